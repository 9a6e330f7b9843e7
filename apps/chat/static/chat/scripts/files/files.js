/** The files of a conversation, uploaded or created by tools, to download or delete. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { fileAddress } from "../addresses.js";
import { momentText } from "../durations.js";
import { fileLine, fileQuestion } from "./lines.js";
import { icon } from "../icons.js";
import { get, remove } from "../requests.js";
import { sizeText } from "../sizes.js";
import { gettext } from "../texts.js";

/** @import { StoredFile } from "./lines.js" */

/** Dispatches `deleted` (detail: the file). */
export class ChatFiles extends LitElement {
  static properties = {
    base: { attribute: false },
    conversation: { attribute: false },
    files: { state: true },
    problem: { state: true },
    isOpen: { state: true },
    asked: { state: true },
  };

  constructor() {
    super();
    this.base = "";
    /** @type {string | null} */
    this.conversation = null;
    /** @type {StoredFile[] | null} null before they are known */
    this.files = null;
    this.problem = "";
    this.isOpen = false;
    /** @type {StoredFile | null} the file to delete */
    this.asked = null;
    /** @type {HTMLElement | null} */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (this.isOpen && dialog && !dialog.open) dialog.showModal();
  }

  render() {
    return this.isOpen ? this.#dialog() : nothing;
  }

  #dialog() {
    return html`<dialog class="files" aria-labelledby="files-heading" @close=${this.#closed}>
      <div class="files-head">
        <h2 id="files-heading" tabindex="-1">${gettext("Files in this conversation")}</h2>
        <button type="button" class="quiet" title=${gettext("Close")} @click=${this.#close}>
          ${icon("x")}<span class="visually-hidden">${gettext("Close")}</span>
        </button>
      </div>
      ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing} ${this.#list()}
    </dialog>`;
  }

  #list() {
    if (this.files === null) return this.problem ? nothing : html`<p class="working">${gettext("Loading…")}</p>`;
    if (!this.files.length) {
      return html`<p class="files-none">${gettext("No files yet. Your attachments and files from tools are listed here.")}</p>`;
    }
    return html`<ul class="files-list">
      ${repeat(
        this.files,
        ({ url }) => url,
        (file) => html`<li>${file.url === this.asked?.url ? fileQuestion(file, () => this.#keep(), () => this.#delete(file)) : this.#line(file)}</li>`,
      )}
    </ul>`;
  }

  /** @param {StoredFile} file */
  #line(file) {
    const origin = file.uploaded ? "" : " · made in the conversation";
    const detail = `${kindOf(file)} · ${sizeText(file.size)} · ${momentText(file.updated_at)}${origin}`;
    return fileLine(file, detail, () => this.#ask(file), true);
  }

  /** @param {HTMLElement} opener gets the focus back */
  async open(opener) {
    this.opener = opener;
    this.files = null;
    this.problem = "";
    this.asked = null;
    this.isOpen = true;
    const found = await get(`${this.base}${this.conversation}/files/`);
    this.files = found?.files ?? null;
    if (!found) this.problem = gettext("Couldn’t load your files. Check your connection and try again.");
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    this.isOpen = false;
    this.opener?.focus();
  }

  /** @param {StoredFile} file */
  #ask(file) {
    this.problem = "";
    this.asked = file;
    void this.updateComplete.then(() => this.#focusOn(".files-question .button"));
  }

  #keep() {
    this.asked = null;
    void this.updateComplete.then(() => this.#focusOn("#files-heading"));
  }

  /** @param {StoredFile} file */
  async #delete(file) {
    if (!(await remove(fileAddress(file.url)?.pathname ?? ""))) {
      this.problem = gettext("That didn’t work. Check your connection and try again.");
      return;
    }
    this.files = this.files?.filter(({ url }) => url !== file.url) ?? null;
    this.#keep();
    this.dispatchEvent(new CustomEvent("deleted", { detail: file }));
  }

  /** @param {string} selector */
  #focusOn(selector) {
    const found = this.querySelector(selector);
    if (found instanceof HTMLElement) found.focus();
  }
}
customElements.define("chat-files", ChatFiles);

/** @param {{name: string, type: string}} file @returns {string} such as "PDF" */
function kindOf({ name, type }) {
  const ending = name.match(/\.(\w{1,8})$/)?.[1];
  return ending?.toUpperCase() ?? type.split(";")[0];
}
