/** The actions of a sub-agent of an answer. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */

/** They dispatch `helper-open` and `helper-stop`, which bubble. @param {Step} step */
export function helperButtons(step) {
  const { helper } = step;
  if (!helper) return nothing;
  /** @param {Event} event */
  const open = (event) => tell(event, "helper-open", step.id);
  return html`<p class="helper-buttons">
    ${helper.agent ? html`<span class="helper-agent">${helper.agent}</span>` : nothing}
    <button type="button" class="button" aria-label=${gettext("Open the sub-agent {name}", { name: helper.name })} @click=${open}>${gettext("Open")}</button>
    ${stopButton(step)}
  </p>`;
}

/** @param {Step} step @returns {unknown} a template for Lit */
export function stopButton({ helper }) {
  if (helper?.state !== "running") return nothing;
  /** @param {Event} event */
  const stop = (event) => tell(event, "helper-stop", helper.key);
  return html`<button type="button" class="button" aria-label=${gettext("Stop the sub-agent {name}", { name: helper.name })} @click=${stop}>
    ${icon("square")}${gettext("Stop")}
  </button>`;
}

/** @param {Event} event @param {string} name @param {string} detail */
function tell(event, name, detail) {
  event.target?.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
}
