/** Searches all conversations of the user, in the sidebar. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon, tile } from "../icons.js";
import { get } from "../requests.js";
import { tagLine } from "./section.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { Row } from "./rows.js"
 * @import { Filter, SearchFilters } from "./search-filters.js"
 * @typedef {Row & {excerpt: string, message: string}} Hit `message` is the ID of the matching message, or "" for the title
 */

/** Milliseconds after the last key press. */
const PAUSE = 200;

/** Dispatches `searching` (detail: true if results are shown) and `said` (detail: the text for screen readers). */
export class HistorySearch extends LitElement {
  static properties = {
    query: { state: true },
    filters: { state: true },
    hits: { state: true },
    failed: { state: true },
    answered: { state: true },
    menu: { state: true },
  };
  #timer = 0;

  constructor() {
    super();
    this.query = "";
    /** @type {Filter[]} */
    this.filters = [];
    /** @type {Hit[] | null} null before they are known */
    this.hits = null;
    /** The query of the address that the hits were found for. */
    this.answered = "";
    this.failed = false;
    /** @type {typeof import("./search-filters.js") | null} the script of the menu, once it is loaded */
    this.menu = null;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<div class="history-search">
        ${icon("search")}
        <label class="visually-hidden" for="history-query">${gettext("Search conversations")}</label>
        <input
          type="search"
          id="history-query"
          placeholder=${gettext("Search")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#write}
          @keydown=${this.#press}
        />
        <button type="button" class="quiet filter-button" title=${gettext("Filters")} aria-haspopup="menu" aria-expanded="false" @click=${this.#openMenu}>
          ${icon("sliders-horizontal")}<span class="visually-hidden">${gettext("Filters")}</span>
        </button>
      </div>
      ${this.menu ? html`<search-filters .chosen=${this.filters} @filtered=${this.#filter}></search-filters>` : nothing}
      ${this.menu?.filterChips(this.filters, (filter) => this.#remove(filter))} ${this.#asked ? this.#results() : nothing}`;
  }

  /** The search as the query of a URL, or "" without one. */
  get #asked() {
    const query = this.query.trim();
    const parameters = [...(query ? [["q", this.query]] : []), ...this.filters.map(({ name, value }) => [name, value])];
    return String(new URLSearchParams(parameters));
  }

  #results() {
    if (this.failed) return html`<p class="history-empty">${gettext("Search is unavailable. Check your connection and try again.")}</p>`;
    const isSearching = this.#asked !== this.answered;
    const state = isSearching ? html`<p class="history-empty working">${gettext("Searching…")}</p>` : nothing;
    if (!this.hits?.length) return isSearching ? state : html`<p class="history-empty">${gettext("No results.")}</p>`;
    const words = wordsOf(new URLSearchParams(this.answered).get("q") ?? "");
    return html`${state}
      <ul class="history hits" aria-label=${gettext("Search results")} aria-busy=${isSearching} ?inert=${isSearching}>
        ${this.hits.map((hit) => this.#hit(hit, words))}
      </ul>`;
  }

  /** @param {Hit} hit @param {string[]} words */
  #hit({ id, title, address, application, excerpt, message, archived, tags }, words) {
    return html`<li class="history-entry">
      <a href="${address}${message ? `#message-${message}` : ""}" data-conversation=${id}>
        ${tile(application, "small")}
        <span class="history-title" dir="auto">${marked(title || gettext("Untitled"), words)}</span>
        <span class="visually-hidden">${application.title}</span>
        ${archived ? html`<span class="hit-note">${gettext("Archived")}</span>` : nothing}
        ${tagLine(tags)} ${excerpt && excerpt !== title ? html`<span class="hit-excerpt" dir="auto">${marked(excerpt, words)}</span>` : nothing}
      </a>
    </li>`;
  }

  /** @param {Event} event */
  async #openMenu({ currentTarget }) {
    this.menu = await import("./search-filters.js");
    await this.updateComplete;
    const menu = /** @type {SearchFilters | null} */ (this.querySelector("search-filters"));
    if (currentTarget instanceof HTMLElement) await menu?.open(currentTarget);
  }

  /** @param {CustomEvent<Filter[]>} event */
  #filter({ detail }) {
    this.filters = detail;
    this.#ask(0);
  }

  /** @param {Filter} filter */
  #remove(filter) {
    this.filters = this.filters.filter((one) => one !== filter);
    this.querySelector("input")?.focus();
    this.#ask(0);
  }

  clear() {
    clearTimeout(this.#timer);
    this.query = "";
    this.filters = [];
    this.hits = null;
    this.answered = "";
    this.dispatchEvent(new CustomEvent("searching", { detail: false }));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      if (this.#asked === this.answered) this.querySelector("a")?.focus();
    }
    if (event.key !== "Escape" || !this.#asked) return;
    event.preventDefault(); // it neither stops the answer nor closes the rail
    this.clear();
  }

  /** @param {InputEvent} event */
  #write(event) {
    this.query = /** @type {HTMLInputElement} */ (event.target).value;
    this.#ask(PAUSE);
  }

  /** @param {number} pause in milliseconds */
  #ask(pause) {
    clearTimeout(this.#timer);
    this.failed = false;
    if (!this.#asked) return this.clear();
    this.dispatchEvent(new CustomEvent("searching", { detail: true }));
    this.#timer = setTimeout(() => this.#search(this.#asked), pause);
  }

  /** @param {string} asked */
  async #search(asked) {
    const told = await get(`/conversations/search/?${asked}`);
    if (asked !== this.#asked) return; // The search has changed in the meantime.
    this.failed = told === null;
    this.hits = told?.hits ?? null;
    this.answered = asked;
    const count = this.hits?.length ?? 0;
    const said = count ? ngettext("{count} conversation found.", "{count} conversations found.", count) : gettext("No conversations found.");
    if (told) this.dispatchEvent(new CustomEvent("said", { detail: said }));
  }
}
customElements.define("history-search", HistorySearch);

/** @param {string} query */
function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The text with the search words marked. @param {string} text @param {string[]} words */
function marked(text, words) {
  if (!words.length) return text;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, place) => (place % 2 ? html`<mark>${part}</mark>` : part));
}
