/** A short message with an undo button. It disappears automatically, but not while the user is about to use it. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

const SECONDS = 10;
/** Undo is possible only for a limited time. */
const MOST_SECONDS = 28;

export class ChatToast extends LitElement {
  static properties = { text: { state: true } };
  #undo = () => {};
  #shown = 0;
  #elapsed = 0;
  #timer = 0;

  constructor() {
    super();
    this.text = "";
  }

  createRenderRoot() {
    return this;
  }

  render() {
    if (!this.text) return nothing;
    return html`<div class="toast" popover="manual" role="region" aria-label=${gettext("Latest actions")} @keydown=${this.#press}>
      <span>${this.text}</span>
      <button type="button" class="link" @click=${this.#back}>${gettext("Undo")}</button>
    </div>`;
  }

  /** @param {string} text @param {() => void} undo @param {{takesFocus?: boolean}} [how] */
  async show(text, undo, { takesFocus = true } = {}) {
    this.text = text;
    this.#undo = undo;
    this.#shown = this.#elapsed = 0;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), 1000);
    await this.updateComplete;
    const toast = this.querySelector(".toast");
    if (toast instanceof HTMLElement && !toast.matches(":popover-open")) toast.showPopover();
    if (takesFocus) this.querySelector("button")?.focus();
  }

  #tick() {
    this.#shown += 1;
    if (!this.querySelector(".toast:hover, :focus-visible")) this.#elapsed += 1;
    if (this.#elapsed >= SECONDS || this.#shown >= MOST_SECONDS) this.hide();
  }

  hide() {
    clearInterval(this.#timer);
    const hadFocus = this.contains(document.activeElement);
    this.text = "";
    if (hadFocus) this.dispatchEvent(new CustomEvent("left"));
  }

  #back() {
    this.hide();
    this.#undo();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.hide();
  }
}
customElements.define("chat-toast", ChatToast);
