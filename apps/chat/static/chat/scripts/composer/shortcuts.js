/** The keyboard shortcuts of the page, and their list. One setting turns them all off. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { hasShortcuts, sendsWithEnter } from "../preferences.js";
import { gettext } from "../texts.js";

/** @import { PageCommand } from "./commands.js" */

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** Keys that produce another character on some keyboards. @type {Record<string, string>} */
const CODES = { ";": "Semicolon", ".": "Period", "/": "Slash", "'": "Quote" };

/** @param {PageCommand[]} commands */
export function listenForShortcuts(commands) {
  addEventListener("keydown", (event) => {
    if (!hasShortcuts() || event.defaultPrevented || event.isComposing || event.altKey || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    // The page always handles a plain Escape: it stops the answer regardless of the setting.
    const found = commands.find(({ keys }) => keys && keys.length > 1 && isPressed(keys, event));
    if (!found) return;
    event.preventDefault();
    found.act();
  });
}

/** @param {string[]} keys @param {KeyboardEvent} event */
function isPressed(keys, event) {
  const key = keys.at(-1) ?? "";
  const isKey = key === "Esc" ? event.key === "Escape" : event.key.toUpperCase() === key || event.code === CODES[key];
  const isControl = keys.includes("Ctrl") === (event.ctrlKey || event.metaKey);
  // “/” requires Shift on many keyboards.
  const isShift = keys.includes("Shift") === event.shiftKey || (key === "/" && event.key === "/");
  return isKey && isControl && isShift;
}

export class ShortcutList extends LitElement {
  static properties = { isOpen: { state: true } };

  constructor() {
    super();
    this.isOpen = false;
    /** @type {PageCommand[]} */
    this.commands = [];
  }

  createRenderRoot() {
    return this;
  }

  open() {
    this.isOpen = true;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  render() {
    if (!this.isOpen) return nothing;
    return html`<dialog class="shortcuts" aria-labelledby="shortcuts-heading" @close=${() => (this.isOpen = false)}>
      <div class="files-head">
        <h2 id="shortcuts-heading">${gettext("Keyboard shortcuts")}</h2>
        <button type="button" class="quiet" title=${gettext("Close")} autofocus @click=${() => this.querySelector("dialog")?.close()}>
          ${icon("x")}<span class="visually-hidden">${gettext("Close")}</span>
        </button>
      </div>
      ${hasShortcuts() ? nothing : html`<p>${gettext("Shortcuts are off, except in the message box.")} <a href="/settings/#writing">${gettext("Settings")}</a></p>`}
      <dl>
        ${this.#lines.map(
          ({ keys, words }) => html`<div>
            <dt>${words}</dt>
            <dd>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dd>
          </div>`,
        )}
      </dl>
    </dialog>`;
  }

  /** @returns {{keys: string[], words: string}[]} */
  get #lines() {
    const enter = sendsWithEnter();
    const ofPage = this.commands.filter(({ keys }) => keys && (hasShortcuts() || keys.length === 1));
    return [
      { keys: enter ? ["Enter"] : ["Ctrl", "Enter"], words: gettext("Send") },
      { keys: enter ? ["Shift", "Enter"] : ["Enter"], words: gettext("New line") },
      { keys: ["/"], words: gettext("Prompts, skills and commands") },
      { keys: ["@"], words: gettext("Ask another app") },
      { keys: ["#"], words: gettext("Attach an earlier file") },
      ...(hasShortcuts() ? [{ keys: ["Ctrl", "K"], words: gettext("Go to a conversation, an app or a page") }] : []),
      { keys: ["Shift", "F10"], words: gettext("Open a conversation’s menu") },
      ...ofPage.map(({ keys = [], detail }) => ({ keys, words: detail })),
    ].map(({ keys, words }) => ({ keys: keys.map(shownKey), words }));
  }
}
customElements.define("shortcut-list", ShortcutList);

/** @param {string} key */
function shownKey(key) {
  return IS_MAC && key === "Ctrl" ? "⌘" : key;
}
