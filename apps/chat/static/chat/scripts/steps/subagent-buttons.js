/** The actions of a sub-agent of an answer. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */

/** They dispatch `subagent-open` and `subagent-stop`, which bubble. @param {Step} step */
export function subagentButtons(step) {
  const { subagent } = step;
  if (!subagent) return nothing;
  /** @param {Event} event */
  const open = (event) => tell(event, "subagent-open", step.id);
  return html`<p class="subagent-buttons">
    ${subagent.agent ? html`<span class="subagent-agent">${subagent.agent}</span>` : nothing}
    <button type="button" class="button" aria-label=${gettext("Open the sub-agent {name}", { name: subagent.name })} @click=${open}>${gettext("Open")}</button>
    ${stopButton(step)}
  </p>`;
}

/** @param {Step} step @returns {unknown} a template for Lit */
export function stopButton({ subagent }) {
  if (subagent?.state !== "running") return nothing;
  /** @param {Event} event */
  const stop = (event) => tell(event, "subagent-stop", subagent.key);
  return html`<button type="button" class="button" aria-label=${gettext("Stop the sub-agent {name}", { name: subagent.name })} @click=${stop}>
    ${icon("square")}${gettext("Stop")}
  </button>`;
}

/** @param {Event} event @param {string} name @param {string} detail */
function tell(event, name, detail) {
  event.target?.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
}
