/** One section of the sidebar. It is redrawn only when one of its rows has changed. */

import { html, ifDefined, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { momentText } from "../durations.js";
import { icon, tile } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { Row } from "./rows.js" */

/** The labels of the marks. A finished conversation without unread answers has none. @type {Record<string, string>} */
const MARKS = { running: gettext("In progress"), waiting: gettext("Waiting for you"), unread: gettext("Unread") };

const KEYS = ["F2", "Shift+F10"].join(" ");

/** Forwards `row-menu` (detail: `{row, button}`) and `row-rename` (detail: the row). */
export class HistorySection extends LitElement {
  static properties = {
    rows: { attribute: false },
    current: { attribute: false },
    selection: { attribute: false },
    version: { attribute: false },
  };

  constructor() {
    super();
    /** @type {Row[]} */
    this.rows = [];
    /** @type {string | null} the open conversation, if it is one of these */
    this.current = null;
    /** @type {import("./selection.js").Selection | null} while rows are selected */
    this.selection = null;
    /** Changes with the selection. */
    this.version = 0;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<ul class="history">
      ${repeat(
        this.rows,
        ({ id }) => id,
        (row) => this.selection?.draw(row, tile(row.application, "small")) ?? this.#row(row),
      )}
    </ul>`;
  }

  /** @param {Row} row */
  #row(row) {
    const { id, title, state, address, application, updated_at } = row;
    const isCurrent = id === this.current;
    const name = title || gettext("Untitled");
    // One tab stop: arrow keys move to the menu button, and menu keys open it.
    return html`<li
      class="history-entry"
      draggable="true"
      @dragstart=${(/** @type {DragEvent} */ event) => drag(event, row)}
      @keydown=${(/** @type {KeyboardEvent} */ event) => this.#press(event, row)}
    >
      <a
        href=${address}
        data-conversation=${id}
        title="${name} · ${application.title} · ${momentText(updated_at)}"
        aria-current=${ifDefined(isCurrent ? "page" : undefined)}
        aria-keyshortcuts=${KEYS}
      >
        ${tile(application, "small")}
        <span class="history-title" dir="auto">${name}</span>
        <span class="visually-hidden">${application.title}</span>
        ${isCurrent && state === "unread" ? nothing : mark(state)} ${tagLine(row.tags)}
      </a>
      <button
        type="button"
        class="quiet row-more"
        tabindex="-1"
        title=${gettext("More")}
        aria-haspopup="menu"
        @click=${(/** @type {Event} */ event) => this.#tell("row-menu", { row, button: event.currentTarget })}
      >
        ${icon("ellipsis")}<span class="visually-hidden">${gettext("More options for {name}", { name })}</span>
      </button>
    </li>`;
  }

  /** @param {KeyboardEvent} event @param {Row} row */
  #press(event, row) {
    const entry = /** @type {HTMLElement} */ (event.currentTarget);
    const button = /** @type {HTMLElement} */ (entry.querySelector(".row-more"));
    const isMenuKey = event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
    const side = sideOf(event, entry);
    if (event.key === "F2") this.#tell("row-rename", row);
    else if (isMenuKey) this.#tell("row-menu", { row, button });
    else if (side === "end") button.focus();
    else if (side === "start") entry.querySelector("a")?.focus();
    else return;
    event.preventDefault();
  }

  /** @param {string} name @param {unknown} detail */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }
}
customElements.define("chat-history-section", HistorySection);

/** The tags below a title. @param {string[]} tags */
export function tagLine(tags) {
  if (!tags?.length) return nothing;
  return html`<span class="history-tags">
    <span class="visually-hidden">${gettext("Tags:")}</span>${tags.map((tag) => html` <bdi>${tag}</bdi>`)}
  </span>`;
}

/** The drag data type: the ID of a conversation. */
export const CONVERSATION = "application/x-quickapps-conversation";

/** @param {DragEvent} event @param {Row} row */
function drag({ dataTransfer }, { id }) {
  dataTransfer?.setData(CONVERSATION, id);
  if (dataTransfer) dataTransfer.effectAllowed = "linkMove";
}

/** The direction of an arrow key, in reading order. @param {KeyboardEvent} event @param {Element} entry @returns {"start" | "end" | ""} */
function sideOf({ key, altKey, ctrlKey, metaKey }, entry) {
  if (altKey || ctrlKey || metaKey || !["ArrowLeft", "ArrowRight"].includes(key)) return "";
  const isRightToLeft = getComputedStyle(entry).direction === "rtl";
  return (key === "ArrowRight") === isRightToLeft ? "start" : "end";
}

/** @param {string} state */
function mark(state) {
  const said = MARKS[state];
  return said
    ? html`<span class="history-mark" data-state=${state} title=${said}><span class="visually-hidden">${said}</span></span>`
    : nothing;
}
