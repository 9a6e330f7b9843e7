/** The dialog for the tags of one or several conversations. It is loaded when it is first opened. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { get } from "../requests.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { HistoryRows, Row } from "./rows.js"
 * @typedef {{name: string, before: boolean | null, now: boolean | null}} Tag `before` and `now` are null if only some of the conversations have it
 */

/** The maximum number of characters of a tag. */
const LONGEST = 40;

/** Dispatches `done` (detail: `{said, rows}`) after the server has made the change. */
export class TagDialog extends LitElement {
  static properties = { asked: { state: true }, tags: { state: true }, problem: { state: true } };

  constructor() {
    super();
    /** @type {HistoryRows | undefined} */
    this.rows = undefined;
    /** @type {Row[] | null} the conversations, null while the dialog is closed */
    this.asked = null;
    /** @type {Tag[]} */
    this.tags = [];
    this.problem = "";
    /** @type {Element | null} what had the focus */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  /** @param {HistoryRows} rows @param {Row[]} asked */
  async open(rows, asked) {
    this.opener = document.activeElement;
    this.rows = rows;
    this.problem = "";
    this.tags = tagsOf(asked, []);
    this.asked = asked;
    await this.updateComplete;
    this.querySelector("dialog")?.showModal();
    this.#field?.focus();
    const told = await get("/conversations/search/filters/");
    if (this.asked !== asked) return;
    const added = this.tags.filter(({ before }) => before === false); // that were added in the meantime
    this.tags = tagsOf(asked, told?.tags ?? []);
    for (const { name } of added) this.#add(name);
  }

  render() {
    const { asked, tags } = this;
    if (!asked) return nothing;
    return html`<dialog class="tag-dialog" aria-labelledby="tags-heading" @close=${this.#closed}>
      <form @submit=${this.#save}>
        <h2 id="tags-heading">${gettext("Tags")}</h2>
        <p class="dialog-detail" dir="auto">${namesOf(asked)}</p>
        <label for="new-tag">${gettext("New tag")}</label>
        <div class="tag-field">
          <input id="new-tag" maxlength=${LONGEST} dir="auto" autocomplete="off" autocapitalize="off" @keydown=${this.#press} />
          <button type="button" class="button" @click=${this.#take}>${icon("plus")}${gettext("Add")}</button>
        </div>
        ${tags.length
          ? html`<fieldset class="folder-choice">
              <legend>${gettext("Your tags")}</legend>
              ${tags.map((tag) => this.#choice(tag))}
            </fieldset>`
          : html`<p class="history-empty">${gettext("You have no tags yet.")}</p>`}
        ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#close}>${gettext("Cancel")}</button>
          <button class="button primary">${gettext("Save")}</button>
        </div>
      </form>
    </dialog>`;
  }

  /** @param {Tag} tag */
  #choice(tag) {
    const { name, now } = tag;
    const toggle = (/** @type {Event} */ event) => this.#change(tag, /** @type {HTMLInputElement} */ (event.target).checked);
    return html`<label>
      <input type="checkbox" .checked=${now === true} .indeterminate=${now === null} @change=${toggle} />
      <span dir="auto">${name}</span>
    </label>`;
  }

  get #field() {
    return /** @type {HTMLInputElement | null} */ (this.querySelector("#new-tag"));
  }

  /** @param {Tag} tag @param {boolean} now */
  #change(tag, now) {
    this.tags = this.tags.map((one) => (one === tag ? { ...one, now } : one));
  }

  /** Enter adds the tag that is written; without one, it saves. @param {KeyboardEvent} event */
  #press(event) {
    if (event.isComposing || event.key !== "Enter" || !this.#field?.value.trim()) return;
    event.preventDefault();
    this.#take();
  }

  #take() {
    const field = this.#field;
    if (!field) return;
    for (const name of field.value.split(",")) this.#add(name);
    field.value = "";
    field.focus();
  }

  /** @param {string} written */
  #add(written) {
    const name = written.trim().replace(/^#+/, "").replace(/\s+/g, " ").trim();
    if (!name) return;
    const known = this.tags.find((tag) => tag.name.toLowerCase() === name.toLowerCase());
    if (known) this.#change(known, true);
    else this.tags = [{ name, before: false, now: true }, ...this.tags];
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    this.asked = null;
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus();
  }

  /** @param {SubmitEvent} event */
  async #save(event) {
    event.preventDefault();
    const { asked, rows } = this;
    if (!asked || !rows) return;
    this.#take();
    const changed = this.tags.filter(({ before, now }) => before !== now);
    const named = (/** @type {boolean} */ isAdded) => changed.filter(({ now }) => now === isAdded).map(({ name }) => name).join();
    const fields = { add_tags: named(true), remove_tags: named(false) };
    this.problem = changed.length ? await changeAll(rows, asked, fields) : "";
    if (this.problem) return;
    this.#close();
    this.dispatchEvent(new CustomEvent("done", { detail: { said: gettext("Tags saved."), rows: asked } }));
  }
}
customElements.define("tag-dialog", TagDialog);

/** @param {HistoryRows} rows @param {Row[]} changed @param {Record<string, string>} fields */
function changeAll(rows, changed, fields) {
  return changed.length > 1 ? rows.changeAll(changed, fields) : rows.arrange(changed[0], fields);
}

/** Tags of the conversations come first. @param {Row[]} rows @param {string[]} others tags of other conversations @returns {Tag[]} */
function tagsOf(rows, others) {
  const own = [...new Set(rows.flatMap(({ tags }) => tags))];
  const found = own.map((name) => {
    const state = rows.every(({ tags }) => tags.includes(name)) ? true : null;
    return { name, before: state, now: state };
  });
  return [...found, ...others.filter((name) => !own.includes(name)).map((name) => ({ name, before: false, now: false }))];
}

/** @param {Row[]} rows */
function namesOf(rows) {
  if (rows.length > 1) return ngettext("{count} conversation", "{count} conversations", rows.length);
  return rows[0].title || gettext("Untitled");
}
