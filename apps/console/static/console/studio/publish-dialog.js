// The panel for publishing, or for requesting it: the changes, the note for the version, and its audience.

import { button, element, newId, quiet } from "./elements.js";
import { fieldLabel } from "./field-labels.js";

/**
 * @import { Difference, Json, Pair } from "./data.js"
 *
 * @typedef {object} Publishing
 * @property {(body: {note: string, only_new: boolean, is_over: boolean}) => Promise<{is_outdated?: boolean}>} send publishes; its result is the response if publishing was refused
 * @property {() => void} close
 * @property {boolean} [isRequest] the panel requests publishing by another user
 * @property {((words: string) => unknown) | null} [sendBack] sends back another user's request
 */

export class PublishPanel {
  /**
   * @param {Difference[]} differences @param {Json} manifest of the draft @param {number} number of the live version @param {Publishing} publishing
   */
  constructor(differences, manifest, number, { send, close, isRequest = false, sendBack = null }) {
    const id = newId("note");
    this.note = element("input", { id, maxLength: 300, required: true, autocomplete: "off", placeholder: "What is new?", value: number ? "" : "The first version" });
    const onlyNew = element("input", { type: "checkbox", id: newId("only-new") });
    let isOver = false;
    const publish = element("button", { class: "console-button console-primary" }, isRequest ? "Request publishing" : "Publish");
    /** @param {Event} event */
    const submit = async (event) => {
      event.preventDefault();
      publish.disabled = true;
      const answer = await send({ note: this.note.value, only_new: onlyNew.checked, is_over: isOver });
      publish.disabled = false;
      if (!answer.is_outdated) return;
      isOver = true;
      publish.textContent = "Replace it";
    };
    const places = differences.length === 1 ? "1 change" : `${differences.length} changes`;
    this.root = element(
      "form",
      { class: "studio-publish", onsubmit: submit },
      element("h2", {}, heading(isRequest, number)),
      number ? element("details", { class: "studio-fold", open: differences.length < 6 }, element("summary", {}, places), list(differences, manifest)) : "",
      element("p", { class: "studio-field" }, element("label", { htmlFor: id }, "Release note"), this.note),
      isRequest ? quiet("Another user, who has not changed this draft, publishes it or sends it back. Any change withdraws the request.") : whoGetsIt(number, onlyNew),
      element("p", { class: "studio-actions" }, publish, button("Not yet", close)),
      sendBack ? backPart(sendBack) : "",
    );
    this.root.addEventListener("keydown", ({ key }) => key === "Escape" && close());
  }
}

/** @param {boolean} isRequest @param {number} number */
function heading(isRequest, number) {
  if (isRequest) return "Request publishing";
  return number ? `Publish version ${number + 1}` : "Publish the first version";
}

/** @param {number} number @param {HTMLInputElement} onlyNew */
const whoGetsIt = (number, onlyNew) =>
  number
    ? element("p", {}, onlyNew, " ", element("label", { htmlFor: onlyNew.id }, "Use it only for new conversations; existing ones keep their version"))
    : quiet("The application then answers requests. Access defines who can use it.");

/** A comment for the requester, instead of publishing. @param {(words: string) => unknown} sendBack */
function backPart(sendBack) {
  const id = newId("words");
  const words = element("textarea", { id, rows: 3, maxLength: 2000 });
  return element(
    "details",
    { class: "studio-fold" },
    element("summary", {}, "Send back"),
    element("p", { class: "studio-field" }, element("label", { htmlFor: id }, "Required changes"), words),
    button("Send back", () => sendBack(words.value)),
  );
}

/** @param {Difference[]} differences @param {Json} manifest */
function list(differences, manifest) {
  return element(
    "dl",
    { class: "studio-differences" },
    ...differences.flatMap(({ path, kind, before, after, lines }) => [
      element("dt", {}, changedField({ path, kind }, manifest), " ", element("span", { class: "studio-quiet" }, kind)),
      element("dd", {}, lines.length ? changedLines(lines) : changedValue(kind, before, after)),
    ]),
  );
}

/** The label of the field, with its path as a detail; only the path if it has no label. @param {{path: string, kind: string}} difference @param {Json} manifest */
function changedField(difference, manifest) {
  const label = fieldLabel(difference, manifest);
  return label ? element("strong", { title: difference.path }, label) : element("code", {}, difference.path);
}

/** @param {string} kind @param {string} before @param {string} after */
const changedValue = (kind, before, after) =>
  element(
    "span",
    {},
    kind === "added" ? "" : element("del", {}, before),
    kind === "changed" || kind === "moved" ? " → " : "",
    kind === "removed" ? "" : element("ins", {}, after),
  );

/** @type {Record<string, "ins" | "del">} */
const NAMES = { added: "ins", removed: "del" };

/** @param {Pair[]} lines */
const changedLines = (lines) =>
  element("div", { class: "content-difference" }, ...lines.map(([kind, text]) => element(NAMES[kind] ?? "span", {}, text)));
