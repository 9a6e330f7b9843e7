/** The menu of the plus button in the message box. It is loaded when it is first opened. */

import { html, LitElement } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { placeBeside } from "../placing.js";
import { gettext } from "../texts.js";

/** Dispatches `chosen` (detail: `files` or `photo`). */
export class AddMenu extends LitElement {
  createRenderRoot() {
    return this;
  }

  render() {
    return html`<div class="menu-popover add-popover" popover role="menu" aria-label=${gettext("Add")} @keydown=${this.#press} @toggle=${this.#toggled}>
      ${this.#item("files", gettext("Attach files"), "paperclip")} ${this.#item("photo", gettext("Take a photo"), "camera")}
    </div>`;
  }

  /** @param {string} name @param {string} words @param {string} picture */
  #item(name, words, picture) {
    return html`<button type="button" role="menuitem" tabindex="-1" @click=${() => this.#choose(name)}>${icon(picture)}${words}</button>`;
  }

  /** @param {HTMLElement} opener */
  async open(opener) {
    this.opener = opener;
    await this.updateComplete;
    const menu = this.#menu;
    if (!menu) return;
    menu.showPopover();
    placeBeside(menu, opener);
    this.#entries[0]?.focus();
  }

  get #menu() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".add-popover"));
  }

  /** @returns {HTMLElement[]} */
  get #entries() {
    return [...this.querySelectorAll("[role^=menuitem]")].filter((one) => one instanceof HTMLElement);
  }

  /** The field opens its dialog only during the click. @param {string} name */
  #choose(name) {
    this.dispatchEvent(new CustomEvent("chosen", { detail: name }));
    this.#menu?.hidePopover();
  }

  /** @param {ToggleEvent} event */
  #toggled({ newState }) {
    this.opener?.setAttribute("aria-expanded", String(newState === "open"));
    if (newState !== "open" && this.contains(document.activeElement)) this.opener?.focus();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const entries = this.#entries;
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Tab") return void this.#menu?.hidePopover();
    if (event.key === "Escape") event.stopPropagation(); // It closes only the menu.
    if (!(event.key in moves)) return;
    event.preventDefault();
    entries.at(moves[event.key] % entries.length)?.focus();
  }
}
customElements.define("add-menu", AddMenu);
