/** Selects one of several items from a list that a button opens, with descriptions, and with a search if there are many. */

import { html, LitElement, nothing } from "../vendor/lit.js";
import { icon } from "./icons.js";
import { placeBeside } from "./placing.js";
import { gettext } from "./texts.js";

/** @typedef {{value: string, title: string, detail?: string, group?: string, name?: string}} ChoiceOption `name` is the full name of an item whose title is short */

/** The number of items from which a search is shown. */
const MANY = 8;

/** Dispatches `chosen` (detail: the value). */
export class ChoiceList extends LitElement {
  static properties = {
    label: { type: String },
    icon: { type: String },
    options: { attribute: false },
    value: { attribute: false },
    words: { attribute: false },
    hint: { type: String },
    disabled: { type: Boolean },
    query: { state: true },
  };

  constructor() {
    super();
    /** The selected item in words. */
    this.label = "";
    /** The icon that is shown if there is no room for words. */
    this.icon = "";
    /** @type {ChoiceOption[]} */
    this.options = [];
    this.value = "";
    /** The text of the button, instead of the title of the selected item. */
    this.words = "";
    /** The IDs of elements that describe the field. */
    this.hint = "";
    this.disabled = false;
    this.query = "";
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const chosen = this.options.find(({ value }) => value === this.value);
    const words = this.words || (chosen?.title ?? "");
    return html`<button
        type="button"
        class="quiet choice-button"
        aria-haspopup="listbox"
        aria-expanded="false"
        aria-label="${this.label}: ${chosen?.name ?? chosen?.title ?? words}"
        aria-describedby=${this.hint || nothing}
        ?disabled=${this.disabled}
        title=${this.label}
        @click=${this.#toggle}
        @keydown=${this.#pressButton}
      >
        ${this.icon ? icon(this.icon) : nothing}<span class="choice-words" dir="auto">${words}</span>${icon("chevron-down")}
      </button>
      <div class="menu-popover choice-popover" popover @toggle=${this.#toggled} @keydown=${this.#press}>
        ${this.options.length < MANY ? nothing : this.#search()}
        <div role="listbox" aria-label=${this.label}>${this.#found.map((option, at, all) => [this.#heading(option, all[at - 1]), this.#option(option)])}</div>
        ${this.#found.length ? nothing : html`<p class="choices-none" role="status">${gettext("No results.")}</p>`}
      </div>`;
  }

  #search() {
    return html`<input
      type="search"
      aria-label=${gettext("Search")}
      placeholder=${gettext("Search")}
      autocomplete="off"
      .value=${this.query}
      @input=${(/** @type {InputEvent} */ { target }) => (this.query = /** @type {HTMLInputElement} */ (target).value)}
    />`;
  }

  /** The group above its first item. Readers hear it in the names of the items. @param {ChoiceOption} option @param {ChoiceOption | undefined} previous */
  #heading({ group }, previous) {
    return group && group !== previous?.group ? html`<p class="choice-group" aria-hidden="true"><bdi>${group}</bdi></p>` : nothing;
  }

  /** @param {ChoiceOption} option */
  #option({ value, title, detail, name }) {
    const isChosen = value === this.value;
    return html`<button type="button" role="option" tabindex="-1" aria-selected=${String(isChosen)} aria-label=${name ?? nothing} data-value=${value} @click=${() => this.#choose(value)}>
      <span class="choice-option" dir="auto">${title}${detail ? html`<small>${detail}</small>` : nothing}</span>
      ${isChosen ? icon("check") : nothing}
    </button>`;
  }

  get #found() {
    const words = this.query.trim().toLowerCase();
    return words ? this.options.filter(({ title, detail = "", name = "" }) => `${title} ${detail} ${name}`.toLowerCase().includes(words)) : this.options;
  }

  get #button() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".choice-button"));
  }

  get #list() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".choice-popover"));
  }

  /** @returns {HTMLElement[]} */
  get #entries() {
    return [...this.querySelectorAll("[role=option]")].filter((one) => one instanceof HTMLElement);
  }

  /** @param {ToggleEvent} event */
  #toggled({ newState }) {
    this.#button?.setAttribute("aria-expanded", String(newState === "open"));
  }

  #toggle() {
    if (this.#list?.matches(":popover-open")) this.#list.hidePopover();
    else this.open();
  }

  /** A list that was just added is drawn first. */
  focus() {
    if (this.#button) this.#button.focus();
    else void this.updateComplete.then(() => this.#button?.focus());
  }

  /** Runs immediately, because the next key is meant for the list. */
  open() {
    if (!this.#list || !this.#button) return;
    this.query = "";
    this.#list.style.setProperty("--button-width", `${this.#button.offsetWidth}px`);
    this.#list.showPopover();
    placeBeside(this.#list, this.#button);
    const first = this.querySelector("input") ?? this.querySelector("[aria-selected=true]") ?? this.#entries[0];
    if (first instanceof HTMLElement) first.focus();
  }

  /** Opens the list with the same keys as a native select. @param {KeyboardEvent} event */
  #pressButton(event) {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    this.open();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const entries = this.#entries;
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Tab") this.#list?.hidePopover();
    if (event.key === "Enter" && at < 0) entries[0]?.click();
    if (event.key.length === 1 && at >= 0 && event.key !== " ") return this.#jump(event.key, entries, at);
    const isMove = event.key in moves && !(at < 0 && ["Home", "End"].includes(event.key));
    if (!isMove && !(event.key === "Enter" && at < 0)) return;
    event.preventDefault();
    if (isMove) entries.at(moves[event.key] % entries.length)?.focus();
  }

  /** Moves to the next item that begins with a letter. @param {string} letter @param {HTMLElement[]} entries @param {number} at */
  #jump(letter, entries, at) {
    const next = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
    next.find(({ textContent }) => textContent?.trim().toLowerCase().startsWith(letter.toLowerCase()))?.focus();
  }

  /** @param {string} value */
  #choose(value) {
    this.#list?.hidePopover();
    this.#button?.focus();
    if (value !== this.value) this.dispatchEvent(new CustomEvent("chosen", { detail: value }));
  }
}
customElements.define("choice-list", ChoiceList);
