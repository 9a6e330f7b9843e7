/** The sidebar: all conversations of the user, with any application. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import "./folder-dialog.js";
import { actOnFolder, actOnRow, drop } from "./actions.js";
import { HistoryRows } from "./rows.js";
import "./search.js";
import { CONVERSATION } from "./section.js";
import { icon } from "../icons.js";
import { itemsOfFolder, itemsOfRow } from "./row-menu.js";
import { gettext } from "../texts.js";

/**
 * @import { FolderDialog } from "./folder-dialog.js"
 * @import { HistoryDialog } from "./dialog.js"
 * @import { Folder, Row, Section } from "./rows.js"
 * @import { RowMenu } from "./row-menu.js"
 */

/**
 * Dispatches `renamed`, `share` and `print` (detail: the row), `undoable` (detail: the change) and `said` (detail: the text for screen readers).
 */
export class ChatHistory extends LitElement {
  static properties = {
    current: { attribute: false },
    shows: { state: true },
    problem: { state: true },
    rowsChanged: { state: true },
    selection: { state: true },
  };

  constructor() {
    super();
    this.rows = new HistoryRows();
    this.rows.addEventListener("change", () => (this.rowsChanged += 1));
    this.rowsChanged = 0;
    /** @type {string | null} */
    this.current = null;
    /** @type {"list" | "archive" | "hits"} */
    this.shows = "list";
    this.problem = "";
    /** @type {import("./selection.js").Selection | null} while several are selected */
    this.selection = null;
    /** @type {Row | Folder | null} that the menu is about */
    this.chosen = null;
    this.addEventListener("keydown", (event) => this.#pressSelecting(event));
    this.addEventListener("dragover", allow);
    this.addEventListener("drop", (event) => this.#drop(event, null)); // Anywhere next to the folders.
    this.onMore = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) this.#more(target);
    });
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    this.onMore.disconnect(); // Observed again, so that a button that is still in view is reported again.
    for (const button of this.querySelectorAll("[data-more]")) this.onMore.observe(button);
  }

  render() {
    return html`<history-search ?hidden=${this.selection !== null} @searching=${this.#searching} @said=${this.#say}></history-search>
      <h2 class="visually-hidden">${gettext("Conversations")}</h2>
      ${this.selection ? this.#selectionBar(this.selection) : nothing}
      ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
      <div
        class="history-lists"
        ?hidden=${this.shows === "hits"}
        @keydown=${this.#press}
        @row-menu=${(/** @type {CustomEvent} */ { detail }) => this.#openRowMenu(detail)}
        @row-rename=${(/** @type {CustomEvent<Row>} */ { detail }) => this.#ask({ kind: "rename", row: detail })}
      >
        ${this.shows === "archive" ? this.#archive() : this.#lists()}
      </div>
      <row-menu @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => this.#chosen(detail)}></row-menu>
      <history-dialog @done=${this.#done}></history-dialog>
      <folder-dialog @said=${this.#say}></folder-dialog>
      <tag-dialog @done=${this.#tagged}></tag-dialog>`;
  }

  #lists() {
    const { sections } = this.rows;
    return html`${repeat(
        sections,
        ({ key }) => key,
        (section) => (section.folder ? this.#folder(section, section.folder) : this.#section(section)),
      )}
      ${sections.some(({ folder }) => !folder)
        ? nothing
        : html`<p class="history-empty">${gettext("Your conversations will be listed here.")}</p>`}
      ${this.#moreButton("main", gettext("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection !== null}>
        ${sections.length
          ? html`<button type="button" class="rail-row" @click=${() => this.#ask({ kind: "new-folder" })}>
              ${icon("folder-plus")}${gettext("New folder")}
            </button>`
          : nothing}
        ${this.#selectButton(sections.some(({ rows }) => rows.length))}
        <button type="button" class="rail-row" @click=${this.#openArchive}>${icon("archive")}${gettext("Archived")}</button>
      </div>`;
  }

  /** @param {Section} section */
  #section({ key, heading, rows }) {
    return html`<section class="history-section">
      <h3 class="history-heading" dir="auto">${heading}</h3>
      <chat-history-section data-section=${key} .rows=${rows} .current=${this.#currentIn(rows)} .selection=${this.selection} .version=${this.selection ? this.rowsChanged : 0}></chat-history-section>
    </section>`;
  }

  /** @param {Section} section @param {Folder} folder */
  #folder({ rows }, folder) {
    const toggled = (/** @type {Event} */ event) =>
      this.rows.collapse(folder, !(/** @type {HTMLDetailsElement} */ (event.target).open));
    return html`<section class="history-section history-folder" @drop=${(/** @type {DragEvent} */ event) => this.#drop(event, folder)}>
      <details ?open=${!folder.collapsed} @toggle=${toggled}>
        <summary>${icon("chevron-right")}${icon("folder")}<h3 dir="auto">${folder.name}</h3></summary>
        ${folder.collapsed || rows.length || this.rows.hasMore(String(folder.id))
          ? nothing
          : html`<p class="history-empty">${gettext("This folder is empty.")}</p>`}
        <chat-history-section .rows=${folder.collapsed ? [] : rows} .current=${this.#currentIn(rows)} .selection=${this.selection} .version=${this.selection ? this.rowsChanged : 0}></chat-history-section>
        ${folder.collapsed ? nothing : this.#moreButton(String(folder.id), gettext("Show more conversations in this folder"))}
      </details>
      <button
        type="button"
        class="quiet row-more"
        title=${gettext("More")}
        aria-haspopup="menu"
        @click=${(/** @type {Event} */ { currentTarget }) => this.#openFolderMenu(folder, currentTarget)}
      >
        ${icon("ellipsis")}<span class="visually-hidden">${gettext("More options for the folder {name}", { name: folder.name })}</span>
      </button>
    </section>`;
  }

  #archive() {
    const rows = this.rows.archived;
    return html`<button type="button" class="rail-row history-back" @click=${this.#closeArchive}>
        ${icon("chevron-right")}${gettext("Back to all conversations")}
      </button>
      <section class="history-section">
        <h3 class="history-heading" tabindex="-1">${gettext("Archived")}</h3>
        ${rows.length || this.rows.hasMore("archived") ? nothing : html`<p class="history-empty">${gettext("No archived conversations.")}</p>`}
        <chat-history-section .rows=${rows} .current=${this.#currentIn(rows)} .selection=${this.selection} .version=${this.selection ? this.rowsChanged : 0}></chat-history-section>
      </section>
      ${this.#moreButton("archived", gettext("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection !== null || !rows.length}>${this.#selectButton(true)}</div>`;
  }

  /** @param {boolean} isOffered */
  #selectButton(isOffered) {
    if (!isOffered) return nothing;
    return html`<button type="button" class="rail-row" @click=${() => this.#select()}>${icon("check")}${gettext("Select conversations")}</button>`;
  }

  /** @param {import("./selection.js").Selection} selection */
  #selectionBar(selection) {
    return html`<selection-bar
      .count=${selection.rows.length}
      .all=${selection.hasAll}
      .full=${selection.isFull}
      .archived=${this.shows === "archive"}
      @act=${(/** @type {CustomEvent<string>} */ { detail }) => this.#act(selection, detail)}
    ></selection-bar>`;
  }

  /** @param {string} list @param {string} words */
  #moreButton(list, words) {
    if (!this.rows.hasMore(list)) return nothing;
    return html`<button type="button" class="link history-more" data-more=${list} @click=${() => this.rows.more(list)}>${words}</button>`;
  }

  /** @param {Element} button */
  #more(button) {
    if (button instanceof HTMLElement) void this.rows.more(button.dataset.more ?? "");
  }

  /** @param {Row[]} rows */
  #currentIn(rows) {
    return rows.some(({ id }) => id === this.current) ? this.current : null;
  }

  /** Edit the title. A hidden list, as on a phone, is shown in the meantime. @param {import("./rows.js").Named} row */
  rename(row) {
    const rail = this.closest("[popover]");
    void this.#ask({ kind: "rename", row });
    if (!(rail instanceof HTMLElement) || this.checkVisibility()) return;
    rail.showPopover();
    this.#dialog?.addEventListener("left", () => rail.hidePopover(), { once: true });
  }

  /** @param {import("./dialog.js").Asked} asked */
  async #ask(asked) {
    await import("./dialog.js");
    const dialog = this.#dialog;
    if (!dialog) return;
    dialog.rows = this.rows;
    dialog.ask(asked);
  }

  get #dialog() {
    return /** @type {HistoryDialog | null} */ (this.querySelector("history-dialog"));
  }

  get #folderDialog() {
    return /** @type {FolderDialog | null} */ (this.querySelector("folder-dialog"));
  }

  get #menu() {
    return /** @type {RowMenu | null} */ (this.querySelector("row-menu"));
  }

  /** Show checkboxes, whose script is loaded on demand. @param {Row} [row] that is selected first */
  async #select(row) {
    const { Selection } = await import("./selection.js");
    const selection = new Selection(this.rows, () => this.#entries.map(({ dataset }) => dataset.conversation ?? ""));
    selection.addEventListener("change", () => (this.rowsChanged += 1));
    selection.addEventListener("said", (event) => this.#say(/** @type {CustomEvent<string>} */ (event)));
    if (row) selection.toggle(row.id);
    this.problem = "";
    this.selection = selection;
    requestAnimationFrame(() => this.#focusOn(row ? `[data-conversation="${row.id}"]` : "[data-conversation]"));
  }

  #endSelection() {
    const focused = document.activeElement?.closest("[data-conversation]");
    const id = focused instanceof HTMLElement ? focused.dataset.conversation : this.selection?.last;
    this.selection = null;
    requestAnimationFrame(() => this.#keepFocus(id));
  }

  /** @param {import("./selection.js").Selection} selection @param {string} name of the button */
  async #act(selection, name) {
    if (name === "end") this.#endSelection();
    else if (name === "all") selection.selectAll();
    else if (name === "none") selection.clear();
    else if (name === "tag") await this.#openTags(selection.rows);
    else {
      const outcome = await selection.act(name);
      if (outcome.undoable) this.#endSelection();
      this.#tellOf(outcome);
    }
  }

  /** Escape ends the selection, and Ctrl+A selects all visible rows. @param {KeyboardEvent} event */
  #pressSelecting(event) {
    const { selection } = this;
    const isElsewhere = event.target instanceof Element && event.target.closest("dialog, .row-menu");
    if (!selection || isElsewhere || event.defaultPrevented) return;
    if (event.key === "Escape") this.#endSelection();
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) selection.selectAll();
    else return;
    event.preventDefault(); // It neither stops the answer nor closes the sidebar.
  }

  /** The visible conversations. @returns {HTMLElement[]} */
  get #entries() {
    return [...this.querySelectorAll(".history-lists [data-conversation]")].filter((one) => one instanceof HTMLElement);
  }

  /** Up and Down move among the conversations. @param {KeyboardEvent} event */
  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...this.querySelectorAll("[data-conversation]")].filter((one) => one instanceof HTMLElement);
    const focused = document.activeElement?.closest(".history-entry")?.querySelector("[data-conversation]");
    const at = links.indexOf(/** @type {HTMLElement} */ (focused));
    if (!step || at < 0) return;
    event.preventDefault();
    links[at + step]?.focus();
    if (event.shiftKey) this.selection?.step(links[at + step], links[at]);
  }

  /** @param {{row: Row, button: HTMLElement}} asked */
  #openRowMenu({ row, button }) {
    this.chosen = row;
    void this.#menu?.open(itemsOfRow(row, Boolean(document.getElementById("main")?.dataset.account)), button);
  }

  /** @param {Folder} folder @param {EventTarget | null} button */
  #openFolderMenu(folder, button) {
    this.chosen = folder;
    if (button instanceof HTMLElement) void this.#menu?.open(itemsOfFolder(folder, this.rows.folders), button);
  }

  /** @param {string} name */
  async #chosen(name) {
    const { chosen, rows } = this;
    if (!chosen) return;
    if (!("address" in chosen)) {
      if (name === "folder-content") await this.#folderDialog?.open(chosen);
      else this.#tellOf(await actOnFolder(rows, name, chosen));
      return;
    }
    if (name === "select") return void this.#select(chosen);
    if (name === "tags") return void this.#openTags([chosen]);
    const outcome = await actOnRow(rows, name, chosen);
    if (outcome.leaves) this.#tell(outcome.leaves, chosen);
    this.#tellOf(outcome);
  }

  /** @param {import("./actions.js").Outcome} outcome */
  #tellOf({ said, problem = "", id, undoable, asks }) {
    this.problem = problem;
    if (asks) void this.#ask(asks);
    if (undoable) this.#tell("undoable", undoable);
    if (!said) return;
    this.#tell("said", said);
    void this.updateComplete.then(() => this.#keepFocus(id));
  }

  /** A row that moves keeps the focus; if it is gone, the search gets the focus. @param {string} [id] of a conversation */
  #keepFocus(id = "") {
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return; // The focus has moved in the meantime.
      const link = id ? this.querySelector(`[data-conversation="${id}"]`) : null;
      const next = link ?? this.querySelector("#history-query");
      if (next instanceof HTMLElement) next.focus();
    });
  }

  /** @param {DragEvent} event @param {Folder | null} folder */
  #drop(event, folder) {
    const row = this.rows.find(event.dataTransfer?.getData(CONVERSATION) ?? "");
    if (!row || event.defaultPrevented) return;
    event.preventDefault();
    if (row.folder !== (folder?.id ?? null)) void drop(this.rows, row, folder).then((outcome) => this.#tellOf(outcome));
  }

  /** @param {Row[]} rows */
  async #openTags(rows) {
    await import("./tag-dialog.js");
    await /** @type {import("./tag-dialog.js").TagDialog | null} */ (this.querySelector("tag-dialog"))?.open(this.rows, rows);
  }

  /** @param {CustomEvent<{said: string, rows: Row[]}>} event */
  #tagged({ detail: { said, rows } }) {
    this.#tell("said", said);
    if (this.selection) this.#endSelection();
    this.#keepFocus(rows[0].id);
  }

  #openArchive() {
    this.shows = "archive";
    void this.rows.more("archived");
    void this.updateComplete.then(() => this.#focusOn("[tabindex='-1'].history-heading"));
  }

  #closeArchive() {
    this.selection = null;
    this.shows = "list";
    void this.updateComplete.then(() => this.#focusOn("#history-query"));
  }

  /** @param {string} selector */
  #focusOn(selector) {
    const found = this.querySelector(selector);
    if (found instanceof HTMLElement) found.focus();
  }

  /** @param {CustomEvent<boolean>} event */
  #searching({ detail }) {
    this.shows = detail ? "hits" : "list";
  }

  /** @param {CustomEvent<string>} event */
  #say({ detail }) {
    this.#tell("said", detail);
  }

  /** @param {CustomEvent<import("./dialog.js").Done>} event */
  #done({ detail: { kind, said, row } }) {
    this.#tell("said", said);
    if (kind === "rename" && row) this.#tell("renamed", row);
    if (kind === "move") this.selection = null;
    this.#keepFocus(row?.id);
  }

  /** @param {string} name @param {unknown} detail */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
customElements.define("chat-history", ChatHistory);

/** @param {DragEvent} event */
function allow(event) {
  if (event.dataTransfer?.types.includes(CONVERSATION)) event.preventDefault();
}
