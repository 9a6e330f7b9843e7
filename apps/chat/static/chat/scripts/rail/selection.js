/** Selects several conversations in the sidebar: rows with checkboxes, and a bar with actions. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { HistoryRows, Row } from "./rows.js"
 * @import { Outcome } from "./actions.js"
 */

/** The maximum number that the server changes at once. */
const MOST = 100;

/** The selection. Dispatches `change`, and `said` (detail: the text for screen readers). */
export class Selection extends EventTarget {
  /** @type {Set<string>} */
  #chosen = new Set();
  /** @type {Set<string>} the selection before the range that is being extended */
  #kept = new Set();
  /** @type {string} the row at which a range begins, "" for none */
  #anchor = "";
  #rows;
  #shown;

  /** @param {HistoryRows} rows @param {() => string[]} shown the ids of the rows in sight, in their order */
  constructor(rows, shown) {
    super();
    this.#rows = rows;
    this.#shown = shown;
  }

  /** The row that was last selected. */
  get last() {
    return this.#anchor;
  }

  /** The selected rows, without deleted ones. @returns {Row[]} */
  get rows() {
    return [...this.#chosen].map((id) => this.#rows.find(id)).filter((row) => row !== undefined);
  }

  get isFull() {
    return this.rows.length >= MOST;
  }

  /** True if all visible rows are selected, or the maximum number of rows. */
  get hasAll() {
    return this.isFull || this.#shown().every((id) => this.#chosen.has(id));
  }

  /** @param {string} id */
  has(id) {
    return this.#chosen.has(id);
  }

  /** @param {string} id */
  toggle(id) {
    const chosen = new Set(this.#chosen);
    if (!chosen.delete(id)) chosen.add(id);
    this.#anchor = id;
    this.#kept = new Set(chosen);
    this.#take(chosen);
  }

  /** Select all rows from the last selected row to this one. @param {string} id */
  extend(id) {
    const shown = this.#shown();
    const from = shown.indexOf(this.#anchor);
    const to = shown.indexOf(id);
    if (from < 0 || to < 0) return this.toggle(id);
    this.#take(new Set([...this.#kept, ...shown.slice(Math.min(from, to), Math.max(from, to) + 1)]));
  }

  selectAll() {
    this.#anchor = "";
    this.#take(new Set([...this.#chosen, ...this.#shown()]));
  }

  clear() {
    this.#anchor = "";
    this.#take(new Set());
  }

  /** A row of the list. @param {Row} row @param {unknown} tile of its application */
  draw({ id, title, application }, tile) {
    const isChosen = this.has(id);
    return html`<li class="history-entry">
      <button
        type="button"
        class="history-pick"
        role="checkbox"
        aria-checked=${isChosen}
        data-conversation=${id}
        @click=${(/** @type {MouseEvent} */ event) => (event.shiftKey ? this.extend(id) : this.toggle(id))}
      >
        <span class="pick-box">${isChosen ? icon("check") : nothing}</span>
        ${tile}
        <span class="history-title" dir="auto">${title || gettext("Untitled")}</span>
        <span class="visually-hidden">${application.title}</span>
      </button>
    </li>`;
  }

  /**
   * Archive, restore, move or delete the selected rows.
   * @param {string} name of the button @returns {Promise<Outcome>}
   */
  async act(name) {
    const { rows } = this;
    if (name === "move") return { asks: { kind: "move", rows } };
    const [fields, back, text] = changeOf(name, rows.length);
    const problem = await this.#rows.changeAll(rows, fields);
    if (problem) return { problem };
    return { undoable: { rows, text, isDeletion: name === "delete", undo: () => this.#rows.changeAll(rows, back) } };
  }

  /** Extend the range to the row in the direction of an arrow key. @param {HTMLElement | undefined} next @param {HTMLElement} focused */
  step(next, focused) {
    if (!next) return;
    this.#anchor ||= focused.dataset.conversation ?? "";
    this.extend(next.dataset.conversation ?? "");
  }

  /** @param {Set<string>} chosen */
  #take(chosen) {
    const known = [...chosen].filter((id) => this.#rows.find(id));
    const isCut = known.length > MOST;
    this.#chosen = new Set(known.slice(0, MOST));
    this.dispatchEvent(new CustomEvent("change"));
    this.dispatchEvent(new CustomEvent("said", { detail: isCut ? mostText() : countText(this.#chosen.size) }));
  }
}

/** Dispatches `act` (detail: `archive`, `unarchive`, `move`, `tag`, `delete`, `all`, `none` or `end`). */
export class SelectionBar extends LitElement {
  static properties = { count: { attribute: false }, all: { attribute: false }, archived: { attribute: false }, full: { attribute: false } };

  constructor() {
    super();
    this.count = 0;
    /** True if all visible rows are selected. */
    this.all = false;
    /** True for the archived conversations. */
    this.archived = false;
    this.full = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { count, archived } = this;
    return html`<div class="selection-bar" role="toolbar" aria-label=${gettext("Selected conversations")}>
      <div class="selection-count">
        <button type="button" class="quiet" aria-keyshortcuts="Escape" title=${gettext("Cancel selection")} @click=${() => this.#tell("end")}>
          ${icon("x")}<span class="visually-hidden">${gettext("Cancel selection")}</span>
        </button>
        <span>${this.full ? mostText() : countText(count)}</span>
        ${this.full
          ? nothing
          : html`<button type="button" class="link" @click=${() => this.#tell(this.all ? "none" : "all")}>
              ${this.all ? gettext("Select none") : gettext("Select all")}
            </button>`}
      </div>
      <div class="selection-actions">
        ${archived
          ? this.#button("unarchive", gettext("Restore"), "archive-restore")
          : [this.#button("archive", gettext("Archive"), "archive"), this.#button("move", gettext("Move…"), "folder")]}
        ${this.#button("tag", gettext("Tag…"), "tag")}
        ${this.#button("delete", gettext("Delete"), "trash-2")}
      </div>
    </div>`;
  }

  /** @param {string} name @param {string} words @param {string} picture */
  #button(name, words, picture) {
    return html`<button type="button" class="quiet" ?disabled=${!this.count} @click=${() => this.#tell(name)}>${icon(picture)}${words}</button>`;
  }

  /** @param {string} name */
  #tell(name) {
    this.dispatchEvent(new CustomEvent("act", { detail: name }));
  }
}
customElements.define("selection-bar", SelectionBar);

/** @param {string} name @param {number} count @returns {[Record<string, string>, Record<string, string>, string]} the fields of the change, the fields that undo it, and its description */
function changeOf(name, count) {
  if (name === "delete") {
    return [{ deleted: "true" }, { deleted: "false" }, ngettext("{count} conversation deleted.", "{count} conversations deleted.", count)];
  }
  if (name === "archive") {
    return [{ archived: "true" }, { archived: "false" }, ngettext("{count} conversation archived.", "{count} conversations archived.", count)];
  }
  const text = ngettext("{count} conversation restored.", "{count} conversations restored.", count);
  return [{ archived: "false" }, { archived: "true" }, text];
}

/** @param {number} count */
function countText(count) {
  return ngettext("{count} selected", "{count} selected", count);
}

function mostText() {
  return gettext("{count} selected (maximum)", { count: String(MOST) });
}
