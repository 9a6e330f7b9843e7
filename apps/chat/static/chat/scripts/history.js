/** The visitor's conversations with this application: open, rename, delete. */

import { html, ifDefined, LitElement, nothing, repeat } from "../vendor/lit.js";
import { momentText } from "./durations.js";
import { icon } from "./icons.js";
import { post } from "./requests.js";

/** @typedef {{id: string, title: string, updated_at: string, state?: string}} Entry */

/** What a mark says; a conversation that is done and read has none. @type {Record<string, string>} */
const MARKS = { running: "Being answered", waiting: "Waiting for you", unread: "Unread" };

/** Dispatches `renamed` (detail: the entry) and `deleted` (detail: its id). */
export class ChatHistory extends LitElement {
  static properties = {
    entries: { attribute: false },
    current: { attribute: false },
    base: { attribute: false },
    asked: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {string | null} */
    this.current = null;
    this.base = "";
    /** @type {{entry: Entry, action: "rename" | "delete"} | null} */
    this.asked = null;
    this.problem = "";
  }

  createRenderRoot() {
    return this;
  }

  /** Put a conversation on top, or give it its new title. @param {string} id @param {string} title */
  note(id, title) {
    const entry = { id, title, updated_at: new Date().toISOString() };
    this.entries = [entry, ...this.entries.filter((known) => known.id !== id)];
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (this.asked && dialog && !dialog.open) dialog.showModal();
  }

  render() {
    return html`<h2 class="history-heading">Conversations</h2>
      ${this.entries.length
        ? html`<ul class="history">
            ${repeat(
              this.entries,
              ({ id }) => id,
              (entry) => this.#entry(entry),
            )}
          </ul>`
        : html`<p class="history-empty">Your conversations will be kept here.</p>`}
      ${this.asked ? this.#dialog(this.asked) : nothing}`;
  }

  /** @param {Entry} entry */
  #entry(entry) {
    const title = entry.title || "Untitled";
    const isCurrent = entry.id === this.current;
    return html`<li class="history-entry">
      <a href="${this.base}${entry.id}/" aria-current=${ifDefined(isCurrent ? "page" : undefined)}>
        <span class="history-title" dir="auto">${isCurrent ? nothing : mark(entry.state)}${title}</span>
        <time class="history-time" datetime=${entry.updated_at}>${momentText(entry.updated_at)}</time>
      </a>
      <button type="button" class="quiet" title="Rename" @click=${() => this.#ask(entry, "rename")}>
        ${icon("pencil")}<span class="visually-hidden">Rename ${title}</span>
      </button>
      <button type="button" class="quiet" title="Delete" @click=${() => this.#ask(entry, "delete")}>
        ${icon("trash-2")}<span class="visually-hidden">Delete ${title}</span>
      </button>
    </li>`;
  }

  /** @param {{entry: Entry, action: "rename" | "delete"}} asked */
  #dialog({ entry, action }) {
    const isRename = action === "rename";
    return html`<dialog aria-labelledby="dialog-heading" @close=${() => (this.asked = null)}>
      <form @submit=${this.#confirm}>
        <h2 id="dialog-heading">${isRename ? "Rename conversation" : "Delete conversation?"}</h2>
        ${isRename
          ? html`<label for="dialog-title">Title</label>
              <input id="dialog-title" name="title" maxlength="200" required .value=${entry.title} />`
          : html`<p>“${entry.title || "Untitled"}” and its answers will be gone for good.</p>`}
        ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#close}>Cancel</button>
          <button class="button ${isRename ? "primary" : "danger"}">${isRename ? "Rename" : "Delete"}</button>
        </div>
      </form>
    </dialog>`;
  }

  /** @param {Entry} entry @param {"rename" | "delete"} action */
  #ask(entry, action) {
    this.problem = "";
    this.asked = { entry, action };
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  /** @param {SubmitEvent} event */
  async #confirm(event) {
    event.preventDefault();
    if (!this.asked) return;
    const { entry, action } = this.asked;
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const title = String(form.get("title") ?? "").trim();
    const done = await post(`${this.base}${entry.id}/${action}/`, action === "rename" ? { title } : {});
    if (!done) {
      this.problem = "That did not work. Check the connection and try again.";
      return;
    }
    this.#close();
    if (action === "rename") this.#rename(entry, title);
    else this.#delete(entry);
  }

  /** @param {Entry} entry @param {string} title */
  #rename(entry, title) {
    this.entries = this.entries.map((known) => (known.id === entry.id ? { ...known, title } : known));
    this.dispatchEvent(new CustomEvent("renamed", { detail: { ...entry, title } }));
  }

  /** @param {Entry} entry */
  #delete(entry) {
    this.entries = this.entries.filter((known) => known.id !== entry.id);
    this.dispatchEvent(new CustomEvent("deleted", { detail: entry.id }));
  }
}
customElements.define("chat-history", ChatHistory);

/** @param {string} [state] */
function mark(state = "") {
  const said = MARKS[state];
  return said
    ? html`<span class="history-mark" data-state=${state} title=${said}><span class="visually-hidden">${said}: </span></span>`
    : nothing;
}
