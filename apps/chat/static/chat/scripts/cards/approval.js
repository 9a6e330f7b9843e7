/** The card of a call that needs the user's approval. */

import { html, nothing } from "../../vendor/lit.js";
import { argumentFields, changedArguments } from "./argument-fields.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { InteractionAnswer } from "../session/frames.js" */
/** @import { Interaction } from "../session/interactions.js" */

/** @type {Record<string, [string, string]>} icon and words */
const RISKS = {
  "read-only": ["file-text", gettext("Only reads data")],
  changes: ["pencil", gettext("Makes changes")],
  destructive: ["triangle-alert", gettext("Deletes or overwrites data")],
};
/** @type {Record<string, string>} */
const SCOPES = {
  conversation: gettext("Don’t ask again in this conversation"),
  application: gettext("Don’t ask again in this app"),
};

/**
 * @param {Interaction} interaction
 * @param {string} id
 * @param {boolean} isOpen true if it can be answered now
 * @param {(answer: InteractionAnswer) => void} send
 */
export function approvalCard({ asked }, id, isOpen, send) {
  const values = asked.arguments ?? {};
  const editable = asked.editable ?? {};
  if (asked.four_eyes)
    return html`${because(asked.because)} ${risk(asked.risk)} ${argumentFields(values, {}, id, asked.labels)}
      <p class="hint">${gettext("Another user must approve or deny this call. Ask an administrator of this server.")}</p>`;
  /** @param {HTMLFormElement} form */
  const approve = (form) => {
    const changed = changedArguments(form, values, editable);
    if (changed === null) return;
    const always = new FormData(form).get("always");
    send({ outcome: "approved", arguments: changed, ...(always ? { always: String(always) } : {}) });
  };
  /** @param {HTMLFormElement} form */
  const deny = (form) => send({ outcome: "denied", reason: String(new FormData(form).get("reason") ?? "").trim() });
  return html`<form
    novalidate
    @submit=${(/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      approve(/** @type {HTMLFormElement} */ (event.target));
    }}
  >
    <fieldset class="fields" ?disabled=${!isOpen}>
      <legend class="visually-hidden">${gettext("Tool call")}</legend>
      ${because(asked.because)} ${risk(asked.risk)} ${argumentFields(values, editable, id, asked.labels)}
      ${scopes(asked.always ?? [], id)}
      <details class="more-field">
        <summary>${icon("plus")}${gettext("Reason for denying (optional)")}</summary>
        <label class="argument-name" for="${id}-reason">${gettext("Reason for denying (optional)")}</label>
        <input id="${id}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${denyByKey(deny)} />
      </details>
      <div class="interaction-buttons">
        <button class="button primary">${icon("check")}${gettext("Approve")}</button>
        <button type="button" class="button" @click=${(/** @type {MouseEvent} */ event) => deny(formOf(event))}>
          ${icon("x")}${gettext("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`;
}

/** Enter in the reason field denies; by default, it would approve. @param {(form: HTMLFormElement) => void} deny */
function denyByKey(deny) {
  return (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    deny(formOf(event));
  };
}

/** @param {Event} event */
function formOf(event) {
  return /** @type {HTMLFormElement} */ (/** @type {HTMLInputElement | HTMLButtonElement} */ (event.currentTarget).form);
}

/** The reason why a call needs approval that it would not need otherwise. @param {string | undefined} reason */
function because(reason) {
  return reason ? html`<p class="because">${icon("circle-alert")}<span dir="auto">${reason}</span></p>` : nothing;
}

/** @param {string} name */
function risk(name) {
  const [mark, words] = RISKS[name] ?? RISKS.changes;
  return html`<p class="risk" data-risk=${name}>${icon(mark)}${words}</p>`;
}

/** @param {string[]} offered @param {string} id */
function scopes(offered, id) {
  if (!offered.length) return nothing;
  return html`<div class="arguments">
    <div class="argument">
      <label class="argument-name" for="${id}-always">${gettext("Next time")}</label>
      <select id="${id}-always" name="always">
        <option value="">${gettext("Ask again")}</option>
        ${offered.map((scope) => html`<option value=${scope}>${SCOPES[scope] ?? scope}</option>`)}
      </select>
    </div>
  </div>`;
}
