/** A row of small buttons below a question or an answer. It is one tab stop; the arrow keys move within it. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";

/**
 * @import { Branch } from "../session/frames.js"
 *
 * @typedef {object} Action
 * @property {string} name identifies the action that gets the focus again
 * @property {string} icon
 * @property {string} label
 * @property {(button: HTMLElement) => void} run
 * @property {boolean} [pressed] of one that is on or off
 * @property {boolean} [disabled]
 * @property {boolean} [opensMenu]
 * @property {string} [after] a text behind the button
 */

export class ActionRow extends LitElement {
  static properties = {
    label: { attribute: false },
    actions: { attribute: false },
    current: { state: true },
  };

  constructor() {
    super();
    this.label = "";
    /** @type {Action[]} */
    this.actions = [];
    /** The name of the button that has the tab stop. */
    this.current = "";
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const stop = this.actions.some(({ name }) => name === this.current) ? this.current : this.actions[0]?.name;
    return html`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#move}>
      ${this.actions.map((action) => this.#button(action, action.name === stop))}
    </div>`;
  }

  /** @param {string} name of an action; the first one without an action of that name */
  focusOn(name) {
    const buttons = this.#buttons();
    (buttons.find((button) => button.dataset.action === name) ?? buttons[0])?.focus();
  }

  /** @param {Action} action @param {boolean} isStop */
  #button({ name, icon: symbol, label, run, pressed, disabled, after, opensMenu }, isStop) {
    /** @param {Event} event */
    const press = ({ currentTarget }) => {
      if (!disabled && currentTarget instanceof HTMLElement) run(currentTarget);
    };
    // `aria-disabled` keeps the focus where it is.
    return html`<button type="button" class="quiet" data-action=${name} title=${label} aria-label=${label}
        tabindex=${isStop ? 0 : -1} aria-pressed=${pressed === undefined ? nothing : String(pressed)}
        aria-haspopup=${opensMenu ? "menu" : nothing} aria-disabled=${disabled ? "true" : nothing} @click=${press} @focus=${() => (this.current = name)}>
        ${icon(symbol)}
      </button>${after ? html`<span class="actions-place">${after}</span>` : nothing}`;
  }

  #buttons() {
    return [...this.querySelectorAll("button")];
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const buttons = this.#buttons();
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const forward = getComputedStyle(this).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    /** @type {Record<string, number>} */
    const places = { [forward]: at + 1, [backward]: at - 1, Home: 0, End: -1 };
    const place = places[event.key];
    if (at < 0 || place === undefined) return;
    event.preventDefault();
    buttons.at(place % buttons.length)?.focus();
  }
}
customElements.define("action-row", ActionRow);

/**
 * The buttons that switch between branches: ‹ 1/3 ›.
 * @param {Branch | undefined} branch
 * @param {{previous: string, next: string}} what the labels of the buttons
 * @param {boolean} disabled
 * @param {(message: string, name: string) => void} show
 * @returns {Action[]}
 */
export function branchActions(branch, what, disabled, show) {
  if (!branch) return [];
  const { ids, at } = branch;
  return [
    {
      name: "previous",
      icon: "chevron-left",
      label: what.previous,
      disabled: disabled || at === 0,
      run: () => show(ids[at - 1] ?? "", "previous"),
      after: `${at + 1}/${ids.length}`,
    },
    {
      name: "next",
      icon: "chevron-right",
      label: what.next,
      disabled: disabled || at === ids.length - 1,
      run: () => show(ids[at + 1] ?? "", "next"),
    },
  ];
}

/**
 * Requests another branch, or the deletion of a turn, from the page.
 * @param {Element} at @param {"branch.switch" | "turn.delete"} type @param {string} message @param {string} name of the button
 */
export function changeBranches(at, type, message, name) {
  const detail = { type, message, name };
  at.dispatchEvent(new CustomEvent("branch-change", { bubbles: true, detail }));
}
