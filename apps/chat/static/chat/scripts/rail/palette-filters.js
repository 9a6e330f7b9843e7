/** The filters of the palette, which are those of the search in the rail. It is loaded when the palette is first opened. */

import { html, LitElement } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { filterChips } from "./search-filters.js";
import { gettext } from "../texts.js";

/** @import { Filter, SearchFilters } from "./search-filters.js" */

/** Writes the filters to `data-filters` of its dialog, which dispatches `filtered`. */
export class PaletteFilters extends LitElement {
  static properties = { chosen: { state: true } };

  constructor() {
    super();
    /** @type {Filter[]} */
    this.chosen = [];
  }

  createRenderRoot() {
    return this;
  }

  firstUpdated() {
    this.#dialog?.addEventListener("close", () => this.#take([]));
  }

  render() {
    return html`<button type="button" class="quiet filter-button" title=${gettext("Filters")} aria-haspopup="menu" aria-expanded="false" @click=${this.#open}>
        ${icon("sliders-horizontal")}<span class="visually-hidden">${gettext("Filters")}</span>
      </button>
      <search-filters .chosen=${this.chosen} @filtered=${(/** @type {CustomEvent<Filter[]>} */ { detail }) => this.#take(detail)}></search-filters>
      ${filterChips(this.chosen, (filter) => this.#remove(filter))}`;
  }

  get #dialog() {
    return this.closest("dialog");
  }

  /** @param {Event} event */
  #open({ currentTarget }) {
    const menu = /** @type {SearchFilters | null} */ (this.querySelector("search-filters"));
    if (currentTarget instanceof HTMLElement) void menu?.open(currentTarget);
  }

  /** @param {Filter} filter */
  #remove(filter) {
    this.#take(this.chosen.filter((one) => one !== filter));
    this.#dialog?.querySelector("input")?.focus();
  }

  /** @param {Filter[]} chosen */
  #take(chosen) {
    const dialog = this.#dialog;
    this.chosen = chosen;
    if (!dialog) return;
    dialog.dataset.filters = String(new URLSearchParams(chosen.map(({ name, value }) => [name, value])));
    dialog.dispatchEvent(new CustomEvent("filtered"));
  }
}
customElements.define("palette-filters", PaletteFilters);
