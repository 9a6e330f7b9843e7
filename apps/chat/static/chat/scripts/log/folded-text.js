/** A long message: its beginning, and the rest on demand. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

const MOST_LINES = 14;
const MOST_CHARACTERS = 1_400;

/** @param {string} text @returns {unknown} a template for Lit of a question */
export function questionText(text) {
  if (!text) return nothing;
  if (!isLong(text)) return html`<p class="question-text" dir="auto">${text}</p>`;
  return html`<folded-text .text=${text}></folded-text>`;
}

/** @param {string} text */
function isLong(text) {
  return text.length > MOST_CHARACTERS || text.split("\n", MOST_LINES + 1).length > MOST_LINES;
}

export class FoldedText extends LitElement {
  static properties = {
    text: { attribute: false },
    unfolded: { type: Boolean, reflect: true },
  };

  constructor() {
    super();
    this.text = "";
    this.unfolded = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<p class="question-text" dir="auto" @scroll=${this.#found}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#toggle}>
        ${this.unfolded ? gettext("Show less") : gettext("Show all")}<span class="visually-hidden"> ${gettext("of the question")}</span>
      </button>`;
  }

  /** Find-in-page scrolls to hidden text. @param {Event} event */
  #found(event) {
    const text = /** @type {HTMLElement} */ (event.target);
    if (this.unfolded || !text.scrollTop) return;
    text.scrollTop = 0;
    this.unfolded = true;
  }

  #toggle() {
    this.unfolded = !this.unfolded;
    if (!this.unfolded) void this.updateComplete.then(() => this.scrollIntoView({ block: "nearest" }));
  }
}
customElements.define("folded-text", FoldedText);
