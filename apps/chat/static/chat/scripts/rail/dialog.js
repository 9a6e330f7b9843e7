/** The dialogs of the sidebar: rename a conversation or a folder, and move a conversation to a folder. They are loaded when the first one is opened. */

import { tile } from "../icons.js";
import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { Folder, HistoryRows, Named, Row } from "./rows.js"
 * @import { Tile } from "../icons.js"
 * @typedef {{slug: string, title: string, detail: string} & Tile} Successor an application
 * @typedef {{kind: "rename", row: Named} | {kind: "move", rows: Row[]} | {kind: "go-on", row: Row, applications: Successor[]} | {kind: "new-folder"} | {kind: "rename-folder", folder: Folder}} Asked
 * @typedef {{kind: Asked["kind"], said: string, row?: Named}} Done `said` is announced to screen readers
 */

const HEADINGS = {
  rename: gettext("Rename conversation"),
  move: gettext("Move to folder"),
  "go-on": gettext("Continue in another app"),
  "new-folder": gettext("New folder"),
  "rename-folder": gettext("Rename folder"),
};
/** The number of applications from which a search is shown. */
const MANY = 8;
const LONGEST = { rename: 200, "rename-folder": 100, "new-folder": 100 };

/** Dispatches `done` (detail: the change) after the server has made it, and `left` when it closes. */
export class HistoryDialog extends LitElement {
  static properties = { asked: { state: true }, problem: { state: true }, isNew: { state: true }, query: { state: true } };

  constructor() {
    super();
    /** @type {HistoryRows | undefined} */
    this.rows = undefined;
    /** @type {Asked | null} */
    this.asked = null;
    this.problem = "";
    /** True if the conversation is moved to a new folder. */
    this.isNew = false;
    /** The search for an application. */
    this.query = "";
    /** @type {Element | null} the element that had the focus */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  /** @param {Asked} asked */
  ask(asked) {
    this.opener = document.activeElement;
    this.problem = this.query = "";
    this.isNew = asked.kind === "move" && !this.rows?.folders.length;
    this.asked = asked;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (!this.asked || !dialog || dialog.open) return;
    dialog.showModal();
    const field = dialog.querySelector("input[name=text]");
    if (field instanceof HTMLInputElement) field.select();
  }

  render() {
    const { asked } = this;
    if (!asked) return nothing;
    return html`<dialog aria-labelledby="dialog-heading" @close=${this.#closed}>
      <form @submit=${this.#confirm}>
        <h2 id="dialog-heading">${HEADINGS[asked.kind]}</h2>
        ${this.#content(asked)}
        ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#close}>${gettext("Cancel")}</button>
          <button class="button primary">${buttonOf(asked.kind)}</button>
        </div>
      </form>
    </dialog>`;
  }

  /** @param {Asked} asked */
  #content(asked) {
    if (asked.kind === "move") return this.#folders(asked.rows);
    if (asked.kind === "go-on") return this.#applications(asked.row, asked.applications);
    return this.#field(asked.kind, textOf(asked));
  }

  /** @param {Row} row @param {Successor[]} applications */
  #applications(row, applications) {
    const words = this.query.trim().toLowerCase();
    const isFound = (/** @type {Successor} */ { title, detail }) => `${title} ${detail}`.toLowerCase().includes(words);
    return html`${applications.length < MANY ? nothing : this.#search()}
      <fieldset class="folder-choice">
        <legend>${gettext("Choose an app for the next question in “{title}”", { title: row.title || gettext("Untitled") })}</legend>
        ${applications.map(
          (one) => html`<label class="application-option" ?hidden=${!isFound(one)}>
            <input type="radio" class="visually-hidden" name="application" value=${one.slug} required />
            ${tile(one)}
            <span class="choice-option" dir="auto">${one.title}${one.detail ? html`<small>${one.detail}</small>` : nothing}</span>
          </label>`,
        )}
        ${applications.some(isFound) ? nothing : html`<p class="choices-none" role="status">${gettext("No results.")}</p>`}
      </fieldset>
      <p class="history-empty">${gettext("The new app can read all messages in this conversation.")}</p>`;
  }

  #search() {
    const search = (/** @type {InputEvent} */ { target }) => (this.query = /** @type {HTMLInputElement} */ (target).value);
    return html`<input type="search" aria-label=${gettext("Search")} placeholder=${gettext("Search")} autocomplete="off" @input=${search} />`;
  }

  /** @param {"rename" | "new-folder" | "rename-folder"} kind @param {string} text */
  #field(kind, text) {
    return html`<label for="dialog-text">${kind === "rename" ? gettext("Title") : gettext("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${LONGEST[kind]} required autocomplete="off" .value=${text} />`;
  }

  /** @param {Row[]} rows */
  #folders(rows) {
    const folders = this.rows?.folders ?? [];
    const isIn = (/** @type {number | null} */ folder) => rows.every((row) => row.folder === folder);
    return html`<fieldset class="folder-choice">
        <legend>${folderHeading(rows)}</legend>
        ${folders.map(({ id, name }) => this.#choice(String(id), name, isIn(id) && !this.isNew))}
        ${isIn(null) ? nothing : this.#choice("", gettext("No folder"), false)}
        ${this.#choice("new", gettext("New folder"), this.isNew)}
      </fieldset>
      ${this.isNew ? this.#field("new-folder", "") : nothing}`;
  }

  /** @param {string} value @param {string} words @param {boolean} checked */
  #choice(value, words, checked) {
    const choose = () => (this.isNew = value === "new");
    return html`<label>
      <input type="radio" name="folder" value=${value} required .checked=${checked} @change=${choose} />
      <span dir="auto">${words}</span>
    </label>`;
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    this.dispatchEvent(new CustomEvent("left"));
    this.asked = null;
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus();
  }

  /** @param {SubmitEvent} event */
  async #confirm(event) {
    event.preventDefault();
    const { asked, rows } = this;
    if (!asked || !rows) return;
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const text = String(form.get("text") ?? "").trim();
    const chosen = String(form.get(asked.kind === "go-on" ? "application" : "folder") ?? "");
    this.problem = await carryOut(rows, asked, text, chosen);
    if (this.problem) return;
    this.#close();
    this.dispatchEvent(new CustomEvent("done", { detail: doneOf(asked, text) }));
  }
}
customElements.define("history-dialog", HistoryDialog);

/** @param {Asked} asked */
function textOf(asked) {
  if (asked.kind === "rename") return asked.row.title;
  return asked.kind === "rename-folder" ? asked.folder.name : "";
}

/** @param {Row[]} rows */
function folderHeading(rows) {
  const [{ title }] = rows;
  if (rows.length > 1) return ngettext("Choose a folder for {count} conversation", "Choose a folder for {count} conversations", rows.length);
  return gettext("Choose a folder for “{title}”", { title: title || gettext("Untitled") });
}

/** @param {Asked["kind"]} kind */
function buttonOf(kind) {
  if (kind === "move") return gettext("Move");
  if (kind === "go-on") return gettext("Continue");
  return kind === "new-folder" ? gettext("Create") : gettext("Rename");
}

/** @param {HistoryRows} rows @param {Asked} asked @param {string} text @param {string} chosen a folder, or an application @returns {Promise<string>} the error, or "" */
async function carryOut(rows, asked, text, chosen) {
  if (asked.kind === "rename") return rows.rename(asked.row, text);
  if (asked.kind === "rename-folder") return (await rows.changeFolders(`${asked.folder.id}/`, { name: text })).problem;
  if (asked.kind === "new-folder") return (await rows.changeFolders("", { name: text })).problem;
  if (asked.kind === "go-on") return rows.goOn(asked.row, chosen);
  if (chosen !== "new") return moveInto(rows, asked.rows, chosen);
  const made = await rows.changeFolders("", { name: text });
  return made.problem || moveInto(rows, asked.rows, String(made.folder));
}

/** @param {HistoryRows} rows @param {Row[]} moved @param {string} folder */
function moveInto(rows, moved, folder) {
  return moved.length > 1 ? rows.changeAll(moved, { folder }) : rows.arrange(moved[0], { folder });
}

/** @param {Asked} asked @param {string} text @returns {Done} */
function doneOf(asked, text) {
  const { kind } = asked;
  if (kind === "rename") return { kind, said: gettext("Conversation renamed."), row: { ...asked.row, title: text } };
  if (kind === "go-on") return { kind, said: gettext("The new app will answer, starting with your next message."), row: asked.row };
  if (kind === "move") {
    const said = ngettext("{count} conversation moved.", "{count} conversations moved.", asked.rows.length);
    return { kind, said: asked.rows.length > 1 ? said : gettext("Conversation moved."), row: asked.rows[0] };
  }
  return { kind, said: kind === "new-folder" ? gettext("Folder created.") : gettext("Folder renamed.") };
}
