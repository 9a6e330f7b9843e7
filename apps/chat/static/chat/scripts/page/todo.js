/** The to-do list that the model maintains for a conversation. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/**
 * @typedef {object} Line of a list
 * @property {number} depth
 * @property {boolean | null} done null for a line that is no item
 * @property {string} text
 */

const ITEM = /^([ \t>]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$/;
const INDENT = 2;
const DEEPEST = 5;

/** @param {string} text Markdown @returns {Line[]} */
export function linesOf(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.map((line) => {
    const [, space = "", mark = "", words = ""] = line.match(ITEM) ?? [];
    if (!mark) return { depth: 0, done: null, text: line.replace(/^[\s#>]+/, "") };
    const width = space.replaceAll("\t", "    ").length;
    return { depth: Math.min(Math.floor(width / INDENT), DEEPEST), done: mark !== " ", text: words };
  });
}

export class ChatTodo extends LitElement {
  static properties = { text: { attribute: false } };

  constructor() {
    super();
    this.text = "";
    // On a small screen, it is one line until the user expands it.
    this.unfolded = matchMedia("(min-width: 48rem)").matches;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const lines = linesOf(this.text);
    if (!lines.length) return nothing;
    const items = lines.filter(({ done }) => done !== null);
    const completed = items.filter(({ done }) => done).length;
    return html`<details class="todo" .open=${this.unfolded} @toggle=${this.#keep}>
      <summary>
        ${icon("check")}<span>${gettext("To-do list")}</span>
        ${items.length
          ? html`<progress max=${items.length} .value=${completed} aria-hidden="true"></progress>
              <span class="todo-count">${gettext("{completed} of {count} done", { completed, count: items.length })}</span>`
          : nothing}${icon("chevron-right")}
      </summary>
      <ul class="todo-lines" tabindex="0" aria-label=${gettext("To-do list")}>${lines.map(row)}</ul>
    </details>`;
  }

  /** @param {Event} event */
  #keep(event) {
    this.unfolded = /** @type {HTMLDetailsElement} */ (event.target).open;
  }
}
customElements.define("chat-todo", ChatTodo);

/** @param {Line} line */
function row({ depth, done, text }) {
  if (done === null) return html`<li class="todo-heading" dir="auto">${text}</li>`;
  return html`<li class="todo-item" data-done=${done} data-depth=${depth}>
    <span class="todo-mark" aria-hidden="true">${done ? icon("check") : nothing}</span>
    <span class="visually-hidden">${done ? gettext("Done:") : gettext("To do:")}</span>
    <span class="todo-text" dir="auto">${text}</span>
  </li>`;
}
