/** A preview of a stored file, as Markdown, a table or code, when it is expanded. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { sizeText } from "../sizes.js";
import { rowsOf } from "./tables.js";
import "../markdown/markdown.js";
import { gettext, ngettext } from "../texts.js";

/** Larger files can only be downloaded. */
const MOST_BYTES = 200_000;
const MOST_ROWS = 100;
const READABLE = /^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i;
const TABLE = /^text\/(?:csv|tab-separated-values)$/i;

/** @param {string} type @returns {boolean} true if a file of the type can be shown here */
export function isReadable(type) {
  return READABLE.test(type.split(";")[0].trim());
}

export class FilePreview extends LitElement {
  static properties = {
    address: { attribute: false },
    name: { attribute: false },
    type: { attribute: false },
    text: { state: true },
    size: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.address = "";
    this.name = "";
    this.type = "";
    /** @type {string | null} null before it is known */
    this.text = null;
    this.size = 0;
    this.problem = "";
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<details class="attachment words" @toggle=${this.#unfold}>
      <summary>
        ${icon("chevron-right")}${icon("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#content()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${icon("download")}${gettext("Download")}</a>
        ${/^text\/html\b/i.test(this.type)
          ? html`<button type="button" class="link" @click=${this.#openPage}>${icon("eye")}${gettext("Preview")}</button>`
          : nothing}
        ${this.size > MOST_BYTES
          ? html`<span>${gettext("Only the beginning is shown. Total size: {size}.", { size: sizeText(this.size) })}</span>`
          : nothing}
      </p>
    </details>`;
  }

  #content() {
    if (this.problem) return html`<p class="field-error" role="alert">${this.problem}</p>`;
    if (this.text === null) return html`<p class="working">${gettext("Loading…")}</p>`;
    if (TABLE.test(this.type)) return this.#table(rowsOf(this.text, MOST_ROWS + 1));
    const markdown = this.type === "text/markdown" ? this.text : fenced(this.text, this.name);
    return html`<markdown-text .text=${markdown} .complete=${true}></markdown-text>`;
  }

  /** @param {string[][]} rows the first one has the names */
  #table([head = [], ...rows]) {
    const isMore = rows.length >= MOST_ROWS || this.size > MOST_BYTES;
    return html`<div class="prose-table table" tabindex="0" role="group" aria-label=${gettext("Table {name}", { name: this.name })}>
        <table>
          <thead>
            <tr>
              ${head.map((cell) => html`<th scope="col">${cell}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
      ${isMore ? html`<p class="preview-foot">${ngettext("Showing only the first row", "Showing only the first {count} rows", rows.length)}</p>` : nothing}`;
  }

  /** @param {Event} event */
  async #openPage({ currentTarget }) {
    const { openFile } = await import("../code/artifact-panel.js");
    try {
      await openFile(this.address, this.name, "html", /** @type {HTMLElement} */ (currentTarget));
    } catch {
      this.problem = gettext("The file could not be loaded. Check your connection and try again.");
    }
  }

  /** @param {Event} event */
  async #unfold(event) {
    const isOpen = /** @type {HTMLDetailsElement} */ (event.target).open;
    if (!isOpen || this.text !== null) return;
    this.problem = "";
    try {
      const response = await fetch(this.address, { headers: { Range: `bytes=0-${MOST_BYTES - 1}` } });
      if (!response.ok) {
        this.problem = response.status === 404 ? gettext("The file no longer exists.") : gettext("The file can’t be shown. Download it instead.");
        return;
      }
      const total = response.headers.get("Content-Range")?.split("/")[1];
      const bytes = new Uint8Array(await response.arrayBuffer());
      this.size = Number(total ?? bytes.length);
      this.text = textOf(bytes);
    } catch {
      this.problem = gettext("The file could not be loaded. Check your connection, then close the preview and open it again.");
    }
  }
}
customElements.define("file-preview", FilePreview);

/** @param {string} text @param {string} name @returns {string} a block of code in Markdown */
function fenced(text, name) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const ending = name.match(/\.(\w{1,12})$/)?.[1] ?? "";
  return `${fence}${ending}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** @param {Uint8Array} bytes of which the last character may be cut */
function textOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
