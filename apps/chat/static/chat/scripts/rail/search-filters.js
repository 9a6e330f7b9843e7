/** The filters of the searches in the rail and in the palette: their menu, and chips of the chosen ones. Loaded when they are first opened. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { placeBeside } from "../placing.js";
import { get } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{name: "app" | "days" | "tag" | "has", value: string, title: string}} Filter one condition of a search; `name` and `value` are in the address
 */

/** @returns {Filter[]} */
const dates = () => [
  { name: "days", value: "7", title: gettext("Last 7 days") },
  { name: "days", value: "30", title: gettext("Last 30 days") },
  { name: "days", value: "365", title: gettext("Last year") },
];
/** @returns {Filter[]} */
const contents = () => [
  { name: "has", value: "files", title: gettext("Files") },
  { name: "has", value: "code", title: gettext("Code") },
];

/** Dispatches `filtered` (detail: all filters that are chosen now). */
export class SearchFilters extends LitElement {
  static properties = { chosen: { attribute: false }, applications: { state: true }, tags: { state: true } };

  constructor() {
    super();
    /** @type {Filter[]} */
    this.chosen = [];
    /** @type {Filter[]} the apps of the user's conversations */
    this.applications = [];
    /** @type {Filter[]} */
    this.tags = [];
    /** @type {HTMLElement | null} */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<div class="menu-popover filter-popover" popover role="menu" aria-label=${gettext("Filters")} @keydown=${this.#press} @toggle=${this.#toggled}>
      ${this.#group(gettext("Date"), dates())} ${this.#group(gettext("Contains"), contents())} ${this.#group(gettext("Tag"), this.tags)}
      ${this.#group(gettext("App"), this.applications)}
      ${this.chosen.length
        ? html`<button type="button" role="menuitem" tabindex="-1" class="filter-clear" @click=${this.#clear}>${icon("x")}${gettext("Clear filters")}</button>`
        : nothing}
    </div>`;
  }

  /** @param {string} heading @param {Filter[]} filters */
  #group(heading, filters) {
    if (!filters.length) return nothing;
    return html`<div role="group" aria-label=${heading}>
      <p class="menu-heading" aria-hidden="true">${heading}</p>
      ${filters.map((filter) => this.#item(filter))}
    </div>`;
  }

  /** @param {Filter} filter */
  #item(filter) {
    const isChosen = this.#isChosen(filter);
    return html`<button
      type="button"
      role=${filter.name === "has" ? "menuitemcheckbox" : "menuitemradio"}
      tabindex="-1"
      aria-checked=${String(isChosen)}
      data-filter="${filter.name}=${filter.value}"
      @click=${() => this.#toggle(filter)}
    >
      <span class="choice-option" dir="auto">${filter.title}</span>${isChosen ? icon("check") : nothing}
    </button>`;
  }

  /** @param {Filter} filter */
  #isChosen({ name, value }) {
    return this.chosen.some((one) => one.name === name && one.value === value);
  }

  /** Toggles a filter. Only one date, one tag and one app can be set. The menu stays open, because filters can be combined. @param {Filter} filter */
  #toggle(filter) {
    const others = this.chosen.filter(({ name, value }) => name !== filter.name || (name === "has" && value !== filter.value));
    this.#tell(this.#isChosen(filter) ? others : [...others, filter]);
  }

  #clear() {
    this.#menu?.hidePopover();
    this.#tell([]);
  }

  /** @param {Filter[]} chosen */
  #tell(chosen) {
    this.chosen = chosen;
    this.dispatchEvent(new CustomEvent("filtered", { detail: chosen }));
  }

  /** @param {HTMLElement} opener */
  async open(opener) {
    this.opener = opener;
    await this.#show();
    const told = await get("/conversations/search/filters/");
    this.applications = (told?.applications ?? []).map((/** @type {{slug: string, title: string}} */ { slug, title }) => ({ name: "app", value: slug, title }));
    this.tags = (told?.tags ?? []).map((/** @type {string} */ tag) => ({ name: "tag", value: tag, title: tag }));
    await this.updateComplete;
    if (this.#menu?.matches(":popover-open")) placeBeside(this.#menu, opener);
  }

  async #show() {
    await this.updateComplete;
    if (!this.#menu || !this.opener) return;
    this.#menu.showPopover();
    placeBeside(this.#menu, this.opener);
    (this.#entries.find((one) => one.ariaChecked === "true") ?? this.#entries[0])?.focus();
  }

  get #menu() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".filter-popover"));
  }

  /** @returns {HTMLElement[]} */
  get #entries() {
    return [...this.querySelectorAll("[role^=menuitem]")].filter((one) => one instanceof HTMLElement);
  }

  /** @param {ToggleEvent} event */
  #toggled({ newState }) {
    this.opener?.setAttribute("aria-expanded", String(newState === "open"));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const entries = this.#entries;
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Tab") return void this.#menu?.hidePopover();
    if (event.key === "Escape") event.stopPropagation(); // it closes the menu alone
    if (!(event.key in moves)) return;
    event.preventDefault();
    event.stopPropagation(); // the rail moves among conversations
    entries.at(moves[event.key] % entries.length)?.focus();
  }
}
customElements.define("search-filters", SearchFilters);

/** The chosen filters, as chips that remove them. @param {Filter[]} filters @param {(filter: Filter) => void} remove */
export function filterChips(filters, remove) {
  if (!filters.length) return nothing;
  return html`<ul class="search-chips" aria-label=${gettext("Filters")}>
    ${filters.map(
      (filter) => html`<li>
        <button type="button" class="button" aria-label=${gettext("Remove the filter {name}", { name: filter.title })} @click=${() => remove(filter)}>
          <span dir="auto">${filter.title}</span>${icon("x")}
        </button>
      </li>`,
    )}
  </ul>`;
}
