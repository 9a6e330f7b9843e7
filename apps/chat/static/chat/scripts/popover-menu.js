/** The base of menus that open next to a button. */

import { LitElement } from "../vendor/lit.js";
import { placeBeside } from "./placing.js";

/** A subclass renders one element with `role="menu"` and `popover`, and calls `press` and `toggled`. */
export class PopoverMenu extends LitElement {
  constructor() {
    super();
    /** @type {HTMLElement | null} that opened it */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  /** @param {HTMLElement} opener */
  async show(opener) {
    this.opener = opener;
    await this.updateComplete;
    const { menu } = this;
    if (!menu) return;
    menu.showPopover();
    placeBeside(menu, opener);
    this.entries[0]?.focus();
  }

  get menu() {
    return /** @type {HTMLElement | null} */ (this.querySelector("[role=menu]"));
  }

  /** @returns {HTMLElement[]} */
  get entries() {
    return [...this.querySelectorAll("[role^=menuitem]")].filter((one) => one instanceof HTMLElement);
  }

  close() {
    this.opener?.focus();
    this.menu?.hidePopover();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { entries } = this;
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Tab") this.close();
    if (!(event.key in moves)) return;
    event.preventDefault();
    entries.at(moves[event.key] % entries.length)?.focus();
  }

  /** @param {ToggleEvent} event */
  toggled({ newState }) {
    this.opener?.setAttribute("aria-expanded", String(newState === "open"));
    if (newState !== "open" && this.contains(document.activeElement)) this.opener?.focus();
  }
}
