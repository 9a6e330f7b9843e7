/** The instructions and files of a folder, which all its conversations use. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { fileAddress } from "../addresses.js";
import { fileLine, fileQuestion } from "../files/lines.js";
import { tray } from "../files/tray.js";
import { Uploads } from "../files/uploads.js";
import { icon } from "../icons.js";
import { get, postForm, remove } from "../requests.js";
import { sizeText } from "../sizes.js";
import { gettext } from "../texts.js";

/**
 * @import { StoredFile } from "../files/lines.js"
 * @import { Folder } from "./rows.js"
 */

const LONGEST = 4_000;
const FAILED = gettext("That didn’t work. Check your connection and try again.");

/** Dispatches `said` (detail: the text for screen readers). */
export class FolderDialog extends LitElement {
  static properties = {
    folder: { state: true },
    instructions: { state: true },
    files: { state: true },
    changes: { state: true },
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
    this.uploads = new Uploads("", { size: 0, types: [], names: "", most: Infinity }, () => "");
    this.uploads.addEventListener("change", () => this.#uploaded());
    this.uploads.addEventListener("told", (event) => this.#say(/** @type {CustomEvent<{text: string}>} */ (event).detail.text));
    /** The folder that the uploads are shown for. */
    this.shown = "";
    /** Grows with each change of the uploads. */
    this.changes = 0;
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
    this.problem = "";
    this.asked = null;
    this.folder = folder;
    const found = await get(this.#address("content"));
    if (this.folder !== folder) return;
    this.files = found?.files ?? null;
    this.instructions = found?.instructions ?? "";
    if (found) this.#openUploads(String(folder.id), found.limits);
    if (!found) this.problem = gettext("The folder can’t be shown. Check your connection and try again.");
    void this.updateComplete.then(() => this.#field?.focus());
  }

  /** Files that are still on their way to another folder wait there. @param {string} folder @param {{size: number, types: string[]}} limits */
  #openUploads(folder, limits) {
    this.uploads.open(this.shown || folder, folder, this.#address("files"), { ...limits, names: "", most: Infinity });
    this.shown = folder;
    this.uploads.take(); // The list has what was stored in the meantime.
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
          ${this.files === null ? nothing : html`<button class="button primary" >${gettext("Save instructions")}</button>`}
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
      ${tray(this.uploads, () => this.#focusOn(".folder-add"))}
      <button type="button" class="button folder-add" @click=${choose}>
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

  /** @param {Event} event */
  #add(event) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    this.#keepText();
    this.uploads.add(input.files ?? []);
    input.value = ""; // The same file may be selected again.
  }

  /** Stored files move from the tray to the list. */
  #uploaded() {
    const stored = this.uploads.items.filter(({ state }) => state === "done");
    if (this.folder && this.files && stored.length) {
      this.#keepText();
      this.files = [...this.files, ...stored.map(({ name, url, type, size }) => ({ name, url, type, size, updated_at: "", uploaded: true }))];
      this.uploads.take();
    }
    this.changes += 1;
  }

  #keepText() {
    this.instructions = this.#field?.value ?? this.instructions;
  }

  /** @param {StoredFile} file */
  async #delete(file) {
    this.problem = "";
    this.#keepText();
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
    this.#keepText();
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
    this.#keepText();
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
