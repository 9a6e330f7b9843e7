/** The input and output of a step in readable form: named values, tables, pictures; the raw text on demand. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { entriesOf, sectionsOf, valueOf } from "./sections.js";
import "../markdown/markdown.js";
import { gettext } from "../texts.js";

/** @import { Source } from "../files/sources.js" */
/** @import { Section } from "./sections.js" */

/** If it is longer, only the beginning is shown at first. */
const MOST_ROWS = 20;
const MOST_CHARACTERS = 1_500;
const MOST_COLUMNS = 8;
const DEEPEST = 3;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i;

/** Translations of the usual headings, by their English text; tools may have others. @type {Record<string, string>} */
const HEADINGS = {
  Request: gettext("Request"),
  Response: gettext("Response"),
  Result: gettext("Result"),
  Error: gettext("Error"),
  Sources: gettext("Sources"),
  "Status Code": gettext("Status code"),
};

export class StepText extends LitElement {
  static properties = {
    text: { attribute: false },
    complete: { attribute: false },
    sources: { attribute: false },
    all: { state: true },
    raw: { state: true },
  };

  constructor() {
    super();
    this.text = "";
    /** True if the content is complete. */
    this.complete = false;
    /** @type {Source[]} */
    this.sources = [];
    this.all = false;
    this.raw = false;
    /** True if the last drawing omitted something. */
    this.isCut = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    // While it grows, it is drawn as it arrives, which costs least.
    if (!this.complete) return this.#markdown(this.text);
    if (this.raw) return html`<pre class="step-raw" tabindex="0" role="group" aria-label=${gettext("Raw text")}>${this.text}</pre>${this.#buttons()}`;
    this.isCut = false;
    const sections = sectionsOf(this.text);
    const drawn = sections.map((section) => this.#section(section));
    // Plain text looks the same in its raw form.
    const isPlain = !this.isCut && sections.every(({ heading, text }) => !heading && !valueOf(text) && !entriesOf(text).length);
    return html`${drawn}${isPlain ? nothing : this.#buttons()}`;
  }

  #buttons() {
    const toggleAll = () => (this.all = !this.all);
    const toggleRaw = () => (this.raw = !this.raw);
    const isOffered = !this.raw && (this.isCut || this.all);
    return html`<div class="step-buttons">
      ${isOffered
        ? html`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${toggleAll}>
            ${this.all ? gettext("Show less") : gettext("Show all")}
          </button>`
        : nothing}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${toggleRaw}>${gettext("Raw")}</button>
    </div>`;
  }

  /** @param {Section} section */
  #section({ heading, text }) {
    const kind = heading === "Error" ? "step-error" : "";
    return html`${heading ? html`<h3 class=${kind}>${HEADINGS[heading] ?? heading}</h3>` : nothing} ${this.#body(text)}`;
  }

  /** @param {string} text */
  #body(text) {
    const entries = entriesOf(text);
    if (entries.length) return this.#pairs(entries.map((entry) => [entry.name, this.#written(entry.text)]));
    const value = valueOf(text);
    return value ? this.#value(value, 0) : this.#folded(text);
  }

  /** One value of a request. @param {string} text */
  #written(text) {
    const value = valueOf(text);
    if (value) return this.#value(value, 1);
    return text.startsWith("```") ? this.#markdown(text) : this.#string(text);
  }

  /** @param {string} text Markdown */
  #folded(text) {
    if (text.length <= MOST_CHARACTERS) return this.#markdown(text);
    this.isCut = true;
    return html`<div class=${this.all ? "" : "step-cut"}>${this.#markdown(text)}</div>`;
  }

  /** @param {string} text */
  #markdown(text) {
    return html`<markdown-text .text=${text} .complete=${this.complete} .sources=${this.sources}></markdown-text>`;
  }

  /** @param {unknown} value of JSON @param {number} depth @returns {unknown} */
  #value(value, depth) {
    if (value === null || value === "") return html`<span class="step-none">${gettext("none")}</span>`;
    if (typeof value !== "object") return this.#string(String(value));
    if (depth > DEEPEST) return html`<code>${JSON.stringify(value).slice(0, MOST_CHARACTERS)}</code>`;
    if (!Array.isArray(value)) {
      return this.#pairs(Object.entries(value).map(([name, one]) => [name, this.#value(one, depth + 1)]));
    }
    const columns = columnsOf(value);
    if (columns.length) return this.#table(columns, value, depth);
    if (!value.length) return html`<span class="step-none">${gettext("none")}</span>`;
    return html`<ul>${this.#first(value).map((one) => html`<li>${this.#value(one, depth + 1)}</li>`)}</ul>`;
  }

  /** @param {string} text */
  #string(text) {
    if (PICTURE.test(text)) return html`<button type="button" class="zoom" data-zoom aria-label=${gettext("Picture")}><img src=${text} alt="" /></button>`;
    const isLong = text.length > MOST_CHARACTERS;
    this.isCut ||= isLong;
    return html`<span class="step-string" dir="auto">${isLong && !this.all ? `${text.slice(0, MOST_CHARACTERS)}…` : text}</span>`;
  }

  /** @param {[string, unknown][]} pairs */
  #pairs(pairs) {
    if (!pairs.length) return html`<span class="step-none">${gettext("none")}</span>`;
    return html`<dl class="step-pairs">
      ${this.#first(pairs).map(([name, drawn]) => html`<div><dt dir="auto">${name}</dt><dd>${drawn}</dd></div>`)}
    </dl>`;
  }

  /** @param {string[]} columns @param {Record<string, unknown>[]} rows @param {number} depth */
  #table(columns, rows, depth) {
    return html`<div class="table" tabindex="0" role="group" aria-label=${gettext("Table: {columns}", { columns: columns.join(", ") })}>
      <table>
        <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>
          ${this.#first(rows).map(
            (row) => html`<tr>${columns.map((name) => html`<td>${name in row ? this.#value(row[name], depth + 1) : nothing}</td>`)}</tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  /** @template T @param {T[]} things @returns {T[]} */
  #first(things) {
    this.isCut ||= things.length > MOST_ROWS;
    return this.all ? things : things.slice(0, MOST_ROWS);
  }
}
customElements.define("step-text", StepText);

/** @param {unknown[]} rows @returns {string[]} [] if the rows do not form a table */
function columnsOf(rows) {
  const isTable = rows.every((row) => row !== null && typeof row === "object" && !Array.isArray(row));
  if (!isTable) return [];
  const names = [...new Set(rows.flatMap((row) => Object.keys(/** @type {object} */ (row))))];
  return names.length <= MOST_COLUMNS ? names : [];
}
