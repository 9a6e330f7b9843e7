/** The confirmation before a turn is deleted. */

import { html } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/**
 * @param {{text: string, cancel: () => void, confirm: () => void}} asked `text`: the beginning of the question
 * @returns {unknown} a template for Lit
 */
export function turnDeletion({ text, cancel, confirm }) {
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    confirm();
  };
  return html`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${cancel}>
    <form @submit=${submit}>
      <h2 id="turn-deletion-heading">${gettext("Delete this question?")}</h2>
      ${text ? html`<blockquote dir="auto">${text}</blockquote>` : ""}
      <p>${gettext("The question and all its answers will be permanently deleted. Later questions are kept, but the model no longer reads the deleted messages.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${cancel}>${gettext("Cancel")}</button>
        <button class="button danger">${gettext("Delete")}</button>
      </div>
    </form>
  </dialog>`;
}
