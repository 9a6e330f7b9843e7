/** The menu of a conversation or a folder in the sidebar. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { placeBeside } from "../placing.js";
import { gettext } from "../texts.js";

/**
 * @import { Folder, Row } from "./rows.js"
 * @typedef {{name: string, words: string, icon: string, href?: string, deletes?: boolean}} Item with `href` it is a link that downloads
 */

/** The actions of a conversation, in groups. A new entry needs a `case` in the handler of `chosen`. @param {Row} row @param {boolean} isSignedIn @returns {Item[][]} */
export function itemsOfRow(row, isSignedIn) {
  const { address, pinned, archived } = row;
  return itemsIn([
    [
      { name: "rename", words: gettext("Rename"), icon: "pencil" },
      !archived && { name: "pin", words: pinned ? gettext("Unpin") : gettext("Pin"), icon: "pin" },
      !archived && { name: "move", words: gettext("Move to folder…"), icon: "folder" },
      { name: "tags", words: gettext("Tags…"), icon: "tag" },
      { name: "select", words: gettext("Select"), icon: "check" },
    ],
    [
      !archived && { name: "go-on", words: gettext("Continue in another app…"), icon: "log-in" },
      isSignedIn && { name: "share", words: gettext("Share…"), icon: "external-link" },
      { name: "export", words: gettext("Export as Markdown"), icon: "download", href: `${address}download/` },
      { name: "export-json", words: gettext("Export as JSON"), icon: "code", href: `${address}download/?format=json` },
      { name: "print", words: gettext("Print or save as PDF"), icon: "printer" },
    ],
    [
      archived
        ? { name: "unarchive", words: gettext("Restore from the archive"), icon: "archive-restore" }
        : { name: "archive", words: gettext("Archive"), icon: "archive" },
      { name: "delete", words: gettext("Delete"), icon: "trash-2", deletes: true },
    ],
  ]);
}

/** @param {Folder} folder @param {Folder[]} all @returns {Item[][]} */
export function itemsOfFolder(folder, all) {
  return itemsIn([
    [
      { name: "folder-content", words: gettext("Instructions and files…"), icon: "file-text" },
      { name: "rename-folder", words: gettext("Rename folder"), icon: "pencil" },
      folder !== all[0] && { name: "folder-up", words: gettext("Move up"), icon: "arrow-up" },
      folder !== all.at(-1) && { name: "folder-down", words: gettext("Move down"), icon: "arrow-down" },
    ],
    [{ name: "delete-folder", words: gettext("Delete folder and keep its conversations"), icon: "trash-2", deletes: true }],
  ]);
}

/** The groups without what is not offered. @param {(Item | false)[][]} groups @returns {Item[][]} */
export function itemsIn(groups) {
  return groups.map((items) => items.filter((item) => item !== false)).filter(({ length }) => length);
}

/** Dispatches `chosen` (detail: the name of the item). */
export class RowMenu extends LitElement {
  static properties = { groups: { state: true } };

  constructor() {
    super();
    /** @type {Item[][]} */
    this.groups = [];
    /** @type {HTMLElement | null} that opened it */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<div class="row-menu" popover role="menu" aria-label=${gettext("More")} @keydown=${this.#press} @toggle=${this.#toggled}>
      ${this.groups.map((items) => html`<div role="group">${items.map((item) => this.#item(item))}</div>`)}
    </div>`;
  }

  /** @param {Item} item */
  #item({ name, words, icon: picture, href, deletes }) {
    const inside = html`${icon(picture)}${words}`;
    if (href) {
      return html`<a role="menuitem" tabindex="-1" href=${href} download @click=${() => this.#close()}>${inside}</a>`;
    }
    return html`<button type="button" role="menuitem" tabindex="-1" class=${deletes ? "danger" : nothing} data-item=${name} @click=${() => this.#choose(name)}>
      ${inside}
    </button>`;
  }

  /** @param {Item[][]} groups @param {HTMLElement} opener */
  async open(groups, opener) {
    this.groups = groups;
    this.opener = opener;
    await this.updateComplete;
    const menu = this.#menu;
    if (!menu) return;
    menu.showPopover();
    placeBeside(menu, opener);
    this.#entries[0]?.focus();
  }

  get #menu() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".row-menu"));
  }

  /** @returns {HTMLElement[]} */
  get #entries() {
    return [...this.querySelectorAll("[role=menuitem]")].filter((one) => one instanceof HTMLElement);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const entries = this.#entries;
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Tab") this.#close();
    if (!(event.key in moves)) return;
    event.preventDefault();
    entries.at(moves[event.key] % entries.length)?.focus();
  }

  /** @param {ToggleEvent} event */
  #toggled(event) {
    const isOpen = event.newState === "open";
    this.opener?.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen && this.contains(document.activeElement)) this.opener?.focus();
  }

  #close() {
    this.opener?.focus();
    this.#menu?.hidePopover();
  }

  /** @param {string} name */
  #choose(name) {
    this.#close();
    this.dispatchEvent(new CustomEvent("chosen", { detail: name }));
  }
}
customElements.define("row-menu", RowMenu);
