/** The button that jumps to the newest text, with the number of new answers. */

import { gettext, ngettext } from "../texts.js";

export class JumpButton {
  #button;
  #words;
  #answers = 0;

  /** @param {HTMLButtonElement} button with an icon before its words */
  constructor(button) {
    this.#button = button;
    this.#words = /** @type {HTMLElement} */ (button.querySelector("span"));
  }

  /** @param {boolean} away true if there is more below */
  show(away) {
    this.#button.hidden = !away;
    if (!away && this.#answers) this.#count(0);
  }

  /** An answer is complete. */
  note() {
    if (!this.#button.hidden) this.#count(this.#answers + 1);
  }

  /** @param {number} answers */
  #count(answers) {
    this.#answers = answers;
    this.#words.textContent = wordsFor(answers);
  }
}

/** @param {number} answers */
function wordsFor(answers) {
  if (answers === 0) return gettext("Jump to latest");
  return ngettext("Jump to latest: {count} new answer", "Jump to latest: {count} new answers", answers);
}
