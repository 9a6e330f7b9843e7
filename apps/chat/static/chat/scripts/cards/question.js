/** The card of a question from the model. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { isSendKey } from "../preferences.js";
import { gettext, pgettext } from "../texts.js";

/** @import { InteractionAnswer } from "../session/frames.js" */
/** @import { Interaction } from "../session/interactions.js" */
/** @typedef {{label: string, description?: string}} Option */

/**
 * @param {Interaction} interaction
 * @param {string} id
 * @param {boolean} isOpen true if it can be answered now
 * @param {string} problem of the previous answer
 * @param {(answer: InteractionAnswer | null) => void} send null if there is nothing to send
 */
export function questionCard({ asked }, id, isOpen, problem, send) {
  const hasOptions = asked.input !== "text" && asked.options?.length > 0;
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const choices = data.getAll("choice").map(String);
    const text = String(data.get("text") ?? "").trim();
    send(choices.length || text ? { outcome: "answered", choices, text } : null);
  };
  return html`<form @submit=${submit}>
    <fieldset class="fields" ?disabled=${!isOpen}>
      <legend class="visually-hidden">${gettext("Your answer")}</legend>
      ${asked.title ? html`<p class="interaction-question" dir="auto">${asked.question}</p>` : nothing}
      ${hasOptions ? options(asked.options, asked.input === "multiple", asked.question, id) : nothing}
      ${!hasOptions || asked.freeform !== false ? words(hasOptions, id) : nothing}
      ${problem ? html`<p class="field-error" role="alert">${problem}</p>` : nothing}
      <div class="interaction-buttons">
        <button class="button primary">${icon("check")}${pgettext("to answer", "Answer")}</button>
        <button type="button" class="button" @click=${() => send({ outcome: "skipped", choices: [], text: "" })}>
          ${gettext("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`;
}

/** @param {Option[]} offered @param {boolean} several @param {string} question @param {string} id */
function options(offered, several, question, id) {
  return html`<fieldset class="choices">
    <legend class="visually-hidden">${question}</legend>
    ${offered.map(
      ({ label, description }, index) => html`<label class="choice" for="${id}-${index}">
        <input type=${several ? "checkbox" : "radio"} id="${id}-${index}" name="choice" value=${label} />
        <span dir="auto">${label}${description ? html`<span class="hint">${description}</span>` : nothing}</span>
      </label>`,
    )}
  </fieldset>`;
}

/** @param {boolean} isExtra @param {string} id */
function words(isExtra, id) {
  const label = isExtra ? gettext("In your own words (optional)") : gettext("Your answer");
  const sendByKey = (/** @type {KeyboardEvent} */ event) => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    /** @type {HTMLTextAreaElement} */ (event.target).form?.requestSubmit();
  };
  return html`<div class="argument">
    <label class="argument-name" for="${id}-text">${label}</label>
    <textarea id="${id}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${sendByKey}></textarea>
  </div>`;
}
