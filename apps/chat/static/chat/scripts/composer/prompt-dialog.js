/** Asks for the fields of a prompt: one for each `{{name}}` in its text. It is loaded when it is first needed. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/** @import { Prompt } from "./choices.js" */

const VARIABLE = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_ -]{0,49}?)\s*\}\}/gu;
const MOST = 20;

/** @param {string} text @returns {string[]} each name once, in the order of the text */
export function variablesOf(text) {
  return [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name))].slice(0, MOST);
}

/** @param {string} text @param {Map<string, string>} values those without one stay as they are written */
export function filledIn(text, values) {
  return text.replace(VARIABLE, (whole, name) => values.get(name) ?? whole);
}

/** Dispatches `filled` (detail: the text), and `left` if nothing is inserted. */
export class PromptDialog extends LitElement {
  static properties = { prompt: { attribute: false } };

  /** @param {(event: KeyboardEvent) => boolean} isSendKey */
  constructor(isSendKey) {
    super();
    this.isSendKey = isSendKey;
    /** @type {Prompt | null} */
    this.prompt = null;
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  render() {
    const { prompt } = this;
    if (!prompt) return nothing;
    return html`<dialog class="prompt-dialog" aria-labelledby="prompt-dialog-heading" @close=${this.#closed}>
      <form @submit=${this.#submit} @keydown=${this.#press}>
        <h2 id="prompt-dialog-heading" dir="auto">${prompt.title}</h2>
        ${variablesOf(prompt.text).map(
          (name, place) => html`<div class="prompt-field">
            <label for="prompt-field-${place}" dir="auto">${name}</label>
            <textarea id="prompt-field-${place}" name=${name} rows="1" dir="auto"></textarea>
          </div>`,
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#close}>${gettext("Cancel")}</button>
          <button class="button primary">${gettext("Insert")}</button>
        </div>
      </form>
    </dialog>`;
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!this.isSendKey(event) || !(event.target instanceof HTMLTextAreaElement)) return;
    event.preventDefault();
    event.target.form?.requestSubmit();
  }

  /** @param {SubmitEvent} event */
  #submit(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const values = new Map([...form].map(([name, value]) => [name, String(value)]));
    const text = filledIn(this.prompt?.text ?? "", values);
    this.prompt = null;
    this.dispatchEvent(new CustomEvent("filled", { detail: text }));
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    if (!this.prompt) return;
    this.prompt = null;
    this.dispatchEvent(new CustomEvent("left"));
  }
}
customElements.define("prompt-dialog", PromptDialog);
