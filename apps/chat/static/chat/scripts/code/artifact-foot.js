/** The bar below an artifact of which the user has an own version. */

import { html, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/**
 * @import { Artifact } from "./artifacts.js"
 * @typedef {{isDiscarded: boolean, isChanged: boolean, isAdded: boolean, problem: string}} Editing
 * @typedef {Record<"add" | "discard" | "remove" | "restore", () => void>} EditActs
 */

/** @param {Artifact} artifact @param {Editing} editing @param {EditActs} acts */
export function artifactFoot({ own }, { isDiscarded, isChanged, isAdded, problem }, acts) {
  if (isDiscarded) return foot(gettext("Changes discarded."), button(gettext("Undo"), acts.restore));
  if (own === "sent") return foot(gettext("You sent this version."));
  if (own !== "draft") return nothing;
  if (!isChanged) return foot(gettext("Change the text, then add it to your message."));
  const discard = button(gettext("Discard"), acts.discard);
  if (isAdded) return foot(gettext("Your version is in the message box."), discard, button(gettext("Remove from message"), acts.remove));
  return foot(gettext("Your version, not sent yet."), discard, button(gettext("Add to message"), acts.add, "primary"), html`<p class="artifact-problem" role="alert">${problem}</p>`);
}

/** @param {string} words @param {unknown[]} rest */
function foot(words, ...rest) {
  return html`<div class="artifact-foot"><p role="status">${words}</p>${rest}</div>`;
}

/** @param {string} words @param {() => void} act */
function button(words, act, kind = "") {
  return html`<button type="button" class="button ${kind}" @click=${act}>${words}</button>`;
}
