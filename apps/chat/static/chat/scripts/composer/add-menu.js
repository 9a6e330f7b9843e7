/** The menu of the plus button in the message box. It is loaded when it is first opened. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { placeBeside } from "../placing.js";
import { gettext } from "../texts.js";

/** @import { ToolSwitch } from "./choices.js" */

/** Dispatches `chosen` (detail: `files` or `photo`) and `tool` (detail: `{name, on}`). */
export class AddMenu extends LitElement {
  static properties = { sources: { attribute: false }, tools: { attribute: false } };

  constructor() {
    super();
    /** @type {string[]} `files` and `photo`, where they are possible */
    this.sources = [];
    /** @type {ToolSwitch[]} */
    this.tools = [];
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<div class="menu-popover add-popover" popover role="menu" aria-label=${gettext("Add")} @keydown=${this.#press} @toggle=${this.#toggled}>
      ${this.sources.includes("files") ? this.#item("files", gettext("Attach files"), "paperclip") : nothing}
      ${this.sources.includes("photo") ? this.#item("photo", gettext("Take a photo"), "camera") : nothing}
      ${this.tools.length
        ? html`<div role="group" aria-label=${gettext("Tools")}>
            <p class="menu-heading" aria-hidden="true">${gettext("Tools")}</p>
            ${this.tools.map((tool) => this.#switch(tool))}
          </div>`
        : nothing}
    </div>`;
  }

  /** The menu stays open, because several tools can be switched. @param {ToolSwitch} tool */
  #switch({ name, title, detail, on }) {
    const toggle = () => this.dispatchEvent(new CustomEvent("tool", { detail: { name, on: !on }, bubbles: true }));
    return html`<button type="button" class="switch" role="menuitemcheckbox" tabindex="-1" aria-checked=${String(on)} data-tool=${name} @click=${toggle}>
      <span class="choice-option" dir="auto">${title}${detail ? html`<small>${detail}</small>` : nothing}</span>
      <span class="switch-track" aria-hidden="true"></span>
    </button>`;
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
