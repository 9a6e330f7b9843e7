/** The instructions and files of a folder, which all its conversations use. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { fileAddress } from "../addresses.js";
import { fileLine, fileQuestion } from "../files/lines.js";
import { icon } from "../icons.js";
import { csrfToken, get, postForm, remove } from "../requests.js";
import { sizeText } from "../sizes.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { StoredFile } from "../files/lines.js"
 * @import { Folder } from "./rows.js"
 */

const LONGEST = 4_000;
const FAILED = gettext("That didn’t work. Check the connection and try again.");

/** Dispatches `said` (detail: the text for screen readers). */
export class FolderDialog extends LitElement {
  static properties = {
    folder: { state: true },
    instructions: { state: true },
    files: { state: true },
    uploading: { state: true },
    problem: { state: true },
    asked: { state: true },
  };

  constructor() {
    super();
    /** @type {Folder | null} the folder that is shown */
    this.folder = null;
    this.instructions = "";
    /** @type {StoredFile[] | null} null before they are known */
    this.files = null;
    /** The name of the file that is being uploaded, "" for none. */
    this.uploading = "";
    this.problem = "";
    /** @type {StoredFile | null} the file to delete */
    this.asked = null;
    /** @type {Element | null} the element that had the focus */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (this.folder && dialog && !dialog.open) dialog.showModal();
  }

  /** @param {Folder} folder */
  async open(folder) {
    this.opener = document.activeElement;
    this.files = null;
    this.problem = this.uploading = "";
    this.asked = null;
    this.folder = folder;
    const found = await get(this.#address("content"));
    if (this.folder !== folder) return;
    this.files = found?.files ?? null;
    this.instructions = found?.instructions ?? "";
    if (!found) this.problem = gettext("The folder can’t be shown. Check the connection and try again.");
    void this.updateComplete.then(() => this.#field?.focus());
  }

  render() {
    const { folder } = this;
    if (!folder) return nothing;
    return html`<dialog class="folder-content" aria-labelledby="folder-heading" @close=${this.#closed}>
      <form @submit=${this.#save}>
        <h2 id="folder-heading" dir="auto">${folder.name}</h2>
        ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
        ${this.files === null ? (this.problem ? nothing : html`<p class="working">${gettext("Loading…")}</p>`) : this.#content(this.files)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#close}>${gettext("Close")}</button>
          ${this.files === null ? nothing : html`<button class="button primary" ?disabled=${this.uploading !== ""}>${gettext("Save instructions")}</button>`}
        </div>
      </form>
    </dialog>`;
  }

  /** @param {StoredFile[]} files */
  #content(files) {
    const choose = () => /** @type {HTMLInputElement | null} */ (this.querySelector("#folder-files"))?.click();
    return html`<label for="folder-instructions">${gettext("Instructions for all conversations in this folder")}</label>
      <textarea
        id="folder-instructions"
        name="instructions"
        rows="5"
        dir="auto"
        maxlength=${LONGEST}
        aria-describedby="folder-instructions-hint"
        .value=${this.instructions}
      ></textarea>
      <p id="folder-instructions-hint" class="history-empty">${gettext("These instructions are sent to the model with each question, starting with your next question.")}</p>
      <h3 id="folder-files-heading" tabindex="-1">${gettext("Files")}</h3>
      <ul class="files-list" aria-labelledby="folder-files-heading">
        ${repeat(files, ({ url }) => url, (file) => html`<li>${this.#line(file)}</li>`)}
      </ul>
      ${files.length ? nothing : html`<p class="files-none">${gettext("No files yet. Files in this folder are sent with each question, as if you had attached them.")}</p>`}
      <p role="status">${this.uploading ? gettext("“{name}” is being uploaded…", { name: this.uploading }) : ""}</p>
      <button type="button" class="button folder-add" aria-disabled=${String(this.uploading !== "")} @click=${choose}>
        ${icon("paperclip")}${gettext("Add files")}
      </button>
      <input type="file" id="folder-files" multiple hidden aria-label=${gettext("Files in this folder")} @change=${this.#add} />`;
  }

  /** @param {StoredFile} file */
  #line(file) {
    if (file === this.asked) return fileQuestion(file, () => this.#keep(), () => this.#delete(file));
    return fileLine(file, sizeText(file.size), () => this.#ask(file));
  }

  /** @returns {HTMLTextAreaElement | null} */
  get #field() {
    return this.querySelector("textarea");
  }

  /** @param {"content" | "files"} what */
  #address(what) {
    return `/conversations/folders/${this.folder?.id}/${what}/`;
  }

  /** One at a time, so that each keeps its name. @param {Event} event */
  async #add(event) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const chosen = [...(input.files ?? [])];
    input.value = "";
    this.instructions = this.#field?.value ?? "";
    this.problem = "";
    for (const file of chosen) {
      this.uploading = file.name;
      const { stored, problem } = await upload(this.#address("files"), file);
      if (stored) this.files = [...(this.files ?? []), stored];
      else this.problem = problem;
    }
    this.uploading = "";
    if (!this.problem) this.#say(ngettext("File added.", "{count} files added.", chosen.length));
  }

  /** @param {StoredFile} file */
  async #delete(file) {
    this.problem = "";
    this.instructions = this.#field?.value ?? "";
    if (!(await remove(fileAddress(file.url)?.pathname ?? ""))) {
      this.problem = FAILED;
      return;
    }
    this.files = this.files?.filter(({ url }) => url !== file.url) ?? null;
    this.#say(gettext("{name} deleted.", { name: file.name }));
    this.#keep();
  }

  /** @param {StoredFile} file */
  #ask(file) {
    this.instructions = this.#field?.value ?? "";
    this.asked = file;
    void this.updateComplete.then(() => this.#focusOn(".files-question .button"));
  }

  #keep() {
    this.asked = null;
    void this.updateComplete.then(() => this.#focusOn("#folder-files-heading"));
  }

  /** @param {string} selector */
  #focusOn(selector) {
    const found = this.querySelector(selector);
    if (found instanceof HTMLElement) found.focus();
  }

  /** @param {SubmitEvent} event */
  async #save(event) {
    event.preventDefault();
    this.instructions = this.#field?.value ?? "";
    const { status, told } = await postForm(this.#address("content"), { instructions: this.instructions });
    this.problem = status === 200 ? "" : (told?.error?.message ?? FAILED);
    if (this.problem) return;
    this.#close();
    this.#say(gettext("Instructions saved."));
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    this.folder = null;
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus();
  }

  /** @param {string} detail */
  #say(detail) {
    this.dispatchEvent(new CustomEvent("said", { detail }));
  }
}
customElements.define("folder-dialog", FolderDialog);

/** @param {string} address @param {File} file @returns {Promise<{stored: StoredFile | null, problem: string}>} */
async function upload(address, file) {
  const body = new FormData();
  body.append("file", file);
  try {
    const response = await fetch(address, { method: "POST", body, headers: { "X-CSRFToken": csrfToken() } });
    const told = await response.json();
    return response.ok ? { stored: told, problem: "" } : { stored: null, problem: told.error?.message ?? FAILED };
  } catch {
    return { stored: null, problem: FAILED };
  }
}
