/** Suggestions for the first message, as buttons. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{title: string, text: string}} Starter
 * @typedef {object} Starters
 * @property {string} intro_text
 * @property {boolean} auto_submit
 * @property {boolean} chat_message_input_disabled
 * @property {Starter[]} starters
 */

/** @type {Starters} */
export const NO_STARTERS = { intro_text: "", auto_submit: true, chat_message_input_disabled: false, starters: [] };

/** Dispatches `starter` (detail: the starter), which bubbles. */
export class ChatStarters extends LitElement {
  static properties = { offered: { attribute: false } };

  constructor() {
    super();
    this.offered = NO_STARTERS;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { starters, intro_text } = this.offered;
    if (!starters.length) return nothing;
    return html`<section class="starters" aria-label=${intro_text || gettext("Suggestions")}>
      ${intro_text ? html`<h3 dir="auto">${intro_text}</h3>` : nothing}
      <ul>
        ${starters.map(
          (starter) => html`<li><button type="button" dir="auto" @click=${() => this.#start(starter)}>${starter.title}</button></li>`,
        )}
      </ul>
    </section>`;
  }

  /** @param {Starter} starter */
  #start(starter) {
    this.dispatchEvent(new CustomEvent("starter", { bubbles: true, detail: starter }));
  }
}
customElements.define("chat-starters", ChatStarters);
