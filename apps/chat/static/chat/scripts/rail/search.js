/** Searches all conversations of the user, in the sidebar. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { get } from "../requests.js";
import { gettext, ngettext } from "../texts.js";
import { tile } from "../tile.js";

/**
 * @import { Row } from "./rows.js"
 * @typedef {Row & {excerpt: string, message: string}} Hit `message` is the id of what was said, "" for the title
 */

/** Milliseconds after the last key press. */
const PAUSE = 200;

/** Dispatches `searching` (detail: true if results are shown) and `said` (detail: the text for screen readers). */
export class HistorySearch extends LitElement {
  static properties = { query: { state: true }, hits: { state: true }, failed: { state: true }, answered: { state: true } };
  #timer = 0;

  constructor() {
    super();
    this.query = "";
    /** @type {Hit[] | null} null before they are known */
    this.hits = null;
    /** The query of the shown hits. */
    this.answered = "";
    this.failed = false;
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
          placeholder=${gettext("Search conversations")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#write}
          @keydown=${this.#press}
        />
      </div>
      ${this.query.trim() ? this.#results() : nothing}`;
  }

  #results() {
    if (this.failed) return html`<p class="history-empty">${gettext("Search is unavailable. Check the connection and try again.")}</p>`;
    const isSearching = this.query !== this.answered;
    const state = isSearching ? html`<p class="history-empty working">${gettext("Searching…")}</p>` : nothing;
    if (!this.hits?.length) return isSearching ? state : html`<p class="history-empty">${gettext("No results.")}</p>`;
    const words = wordsOf(this.answered);
    return html`${state}
      <ul class="history hits" aria-label=${gettext("Search results")} aria-busy=${isSearching} ?inert=${isSearching}>
        ${this.hits.map((hit) => this.#hit(hit, words))}
      </ul>`;
  }

  /** @param {Hit} hit @param {string[]} words */
  #hit({ id, title, address, application, excerpt, message, archived }, words) {
    return html`<li class="history-entry">
      <a href="${address}${message ? `#message-${message}` : ""}" data-conversation=${id}>
        ${tile(application, "small")}
        <span class="history-title" dir="auto">${marked(title || gettext("Untitled"), words)}</span>
        <span class="visually-hidden">${application.title}</span>
        ${archived ? html`<span class="hit-note">${gettext("Archived")}</span>` : nothing}
        ${excerpt ? html`<span class="hit-excerpt" dir="auto">${marked(excerpt, words)}</span>` : nothing}
      </a>
    </li>`;
  }

  clear() {
    clearTimeout(this.#timer);
    this.query = "";
    this.hits = null;
    this.answered = "";
    this.dispatchEvent(new CustomEvent("searching", { detail: false }));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      if (this.query === this.answered) this.querySelector("a")?.focus();
    }
    if (event.key !== "Escape" || !this.query) return;
    event.preventDefault(); // It neither stops the answer nor closes the sidebar.
    this.clear();
  }

  /** @param {InputEvent} event */
  #write(event) {
    this.query = /** @type {HTMLInputElement} */ (event.target).value;
    clearTimeout(this.#timer);
    this.failed = false;
    if (!this.query.trim()) return this.clear();
    this.dispatchEvent(new CustomEvent("searching", { detail: true }));
    this.#timer = setTimeout(() => this.#search(this.query), PAUSE);
  }

  /** @param {string} query */
  async #search(query) {
    const told = await get(`/conversations/search/?${new URLSearchParams({ q: query })}`);
    if (query !== this.query) return; // The query has changed in the meantime.
    this.failed = told === null;
    this.hits = told?.hits ?? null;
    this.answered = query;
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
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, place) => (place % 2 ? html`<mark>${part}</mark>` : part));
}
