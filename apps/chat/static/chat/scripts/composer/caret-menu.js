/** A menu at the caret. A trigger character opens it, typing filters it, and it never takes the focus. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @typedef {"/" | "@" | "#"} Sign
 * @typedef {{sign: Sign, query: string, start: number, end: number}} Trigger `start` is the offset of the sign
 *
 * @typedef {object} Choice
 * @property {string} name the text that is matched first
 * @property {string} [shown] in place of the name
 * @property {string} detail
 * @property {string} icon
 * @property {string} [insert] the text that takes the place of what was typed
 * @property {() => void} [act] what happens then
 *
 * @typedef {{title: string, choices: Choice[]}} ChoiceGroup
 */

const MOST_OF_A_GROUP = 8;
const ID = "caret-menu";

/**
 * A trigger counts only at the beginning of a word, so that dates, URLs and fractions are not affected.
 * @param {string} text @param {number} caret @returns {Trigger | null}
 */
export function triggerAt(text, caret) {
  const found = /(^|\s)([/@#])([^\s/@#]{0,50})$/u.exec(text.slice(0, caret));
  if (!found) return null;
  const [, , sign, query] = found;
  return { sign: /** @type {Sign} */ (sign), query, start: caret - query.length - 1, end: caret };
}

export class CaretMenu {
  /** @type {Trigger | null} */
  trigger = null;
  /** @type {ChoiceGroup[]} */
  groups = [];
  chosen = 0;
  /** The position of a trigger that was closed with Escape. */
  #closedAt = -1;
  #offer;
  #choose;
  #changed;

  /**
   * @param {(sign: Sign) => ChoiceGroup[]} offer
   * @param {(choice: Choice, trigger: Trigger) => void} choose
   * @param {() => void} changed redraws the list
   */
  constructor(offer, choose, changed) {
    this.#offer = offer;
    this.#choose = choose;
    this.#changed = changed;
  }

  get isOpen() {
    return this.trigger !== null && this.groups.length > 0;
  }

  /** The ID of the active option; undefined if there is none. */
  get activeId() {
    return this.isOpen ? `${ID}-${this.chosen}` : undefined;
  }

  get controls() {
    return this.isOpen ? ID : undefined;
  }

  /** @param {HTMLTextAreaElement} field in which the text or the caret has changed */
  look(field) {
    const isRange = field.selectionStart !== field.selectionEnd;
    const found = isRange ? null : triggerAt(field.value, field.selectionStart);
    if (found?.start !== this.#closedAt) this.#closedAt = -1;
    const before = this.trigger;
    this.trigger = this.#closedAt === -1 ? found : null;
    if (!this.trigger && !before) return;
    if (this.trigger?.query !== before?.query || this.trigger?.start !== before?.start) this.chosen = 0;
    this.refresh();
  }

  /** The options may have changed. */
  refresh() {
    this.groups = this.trigger ? filtered(this.#offer(this.trigger.sign), this.trigger.query) : [];
    this.chosen = Math.min(this.chosen, Math.max(0, this.#all.length - 1));
    this.#changed();
  }

  close() {
    this.#closedAt = this.trigger?.start ?? -1;
    this.trigger = null;
    this.groups = [];
    this.#changed();
  }

  /** @param {KeyboardEvent} event @returns {boolean} true if it was meant for the menu */
  press(event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
    if (event.key === "ArrowDown") this.#move(1);
    else if (event.key === "ArrowUp") this.#move(-1);
    else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#all[this.chosen]);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault(); // Elsewhere, Escape stops the answer.
    return true;
  }

  /** @param {(event: KeyboardEvent) => void} press keys in the list itself, which is reached to be scrolled */
  render(press) {
    if (!this.isOpen) return nothing;
    let place = 0;
    return html`<div
      class="caret-menu"
      id=${ID}
      role="listbox"
      tabindex="0"
      aria-label=${gettext("Prompts and commands")}
      aria-activedescendant="${ID}-${this.chosen}"
      @keydown=${press}
    >
      ${this.groups.map(
        ({ title, choices }, number) => html`<div role="group" aria-labelledby="${ID}-group-${number}">
          <p id="${ID}-group-${number}">${title}</p>
          ${choices.map((choice) => this.#option(choice, place++))}
        </div>`,
      )}
    </div>`;
  }

  /** The text for screen readers. */
  get words() {
    if (!this.isOpen) return "";
    const count = this.#all.length;
    return count === 1
      ? gettext("1 result. Press Enter to choose it, or Escape to close the list.")
      : ngettext(
        "{count} result. Use the arrow keys to move, Enter to choose and Escape to close the list.",
        "{count} results. Use the arrow keys to move, Enter to choose and Escape to close the list.",
        count,
      );
  }

  /** @param {Choice} choice @param {number} place */
  #option(choice, place) {
    const isChosen = place === this.chosen;
    return html`<div
      id="${ID}-${place}"
      class="caret-option"
      role="option"
      aria-selected=${String(isChosen)}
      @mousedown=${keepFocus}
      @click=${() => this.#take(choice)}
    >
      ${icon(choice.icon)}<span class="caret-name" dir="auto">${choice.shown ?? choice.name}</span>
      ${choice.detail ? html`<span class="caret-detail" dir="auto">${choice.detail}</span>` : nothing}
    </div>`;
  }

  get #all() {
    return this.groups.flatMap(({ choices }) => choices);
  }

  /** @param {1 | -1} step */
  #move(step) {
    const count = this.#all.length;
    this.chosen = (this.chosen + step + count) % count;
    this.#changed();
  }

  /** @param {Choice | undefined} choice */
  #take(choice) {
    const { trigger } = this;
    if (!choice || !trigger) return;
    this.close();
    this.#closedAt = -1; // The closed trigger no longer exists.
    this.#choose(choice, trigger);
  }
}

/** @param {Event} event */
function keepFocus(event) {
  event.preventDefault();
}

/** The options that contain the words; names that begin with them come first. @param {ChoiceGroup[]} groups @param {string} query */
function filtered(groups, query) {
  const wanted = query.toLowerCase();
  /** @param {Choice} choice */
  const rank = ({ name, detail }) => {
    const at = name.toLowerCase().indexOf(wanted);
    if (at >= 0) return at === 0 ? 0 : 1;
    return detail.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return groups
    .map(({ title, choices }) => {
      const found = choices.filter((choice) => rank(choice) < 3).sort((one, other) => rank(one) - rank(other));
      return { title, choices: found.slice(0, MOST_OF_A_GROUP) };
    })
    .filter(({ choices }) => choices.length);
}
