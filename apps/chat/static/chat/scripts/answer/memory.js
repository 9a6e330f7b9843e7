/** Shows what an answer did with memories, and the memory switch of a conversation. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { post } from "../requests.js";
import { gettext } from "../texts.js";

/** @import { MemoryNote } from "../session/frames.js" */

/** In the order in which they are listed. @type {Record<string, string>} */
const WORDS = {
  recalled: gettext("Recalled"),
  stored: gettext("Remembered"),
  changed: gettext("Changed"),
  forgotten: gettext("Forgot"),
  deleted: gettext("Deleted everything"),
};

/** @param {MemoryNote[] | undefined} notes @returns {unknown} a template for Lit */
export function memoryLine(notes) {
  if (!notes?.length) return nothing;
  return html`<details class="more-line memory-line">
    <summary>${icon("chevron-right")}${gettext("Memory: {what}", { what: summary(notes) })}</summary>
    <ul>
      ${notes.map(({ action, text }) => html`<li><b>${WORDS[action]}</b> <span dir="auto">${text}</span></li>`)}
    </ul>
    <a href="/memory/">${gettext("Your memories")}</a>
  </details>`;
}

/** Returns, for example, "recalled 2, remembered 1". @param {MemoryNote[]} notes */
function summary(notes) {
  return Object.entries(WORDS)
    .map(([action, words]) => ({ action, words: words.toLowerCase(), count: countOf(notes, action) }))
    .filter(({ count }) => count)
    .map(({ action, words, count }) => (action === "deleted" ? words : `${words} ${count}`))
    .join(", ");
}

/** @param {MemoryNote[]} notes @param {string} action */
function countOf(notes, action) {
  return notes.filter((note) => note.action === action).length;
}

/**
 * Shows whether the conversation uses memory.
 * @param {HTMLButtonElement} button with `role="switch"`
 * @param {import("../session/session.js").Session} session
 * @param {boolean | null} memory null without a switch
 */
export function showMemory(button, session, memory) {
  button.hidden = memory === null;
  session.memory = memory ?? true;
  button.ariaChecked = String(session.memory);
}

/**
 * Makes the button turn the conversation's memory on and off.
 * @param {HTMLButtonElement} button with `role="switch"`
 * @param {import("../session/session.js").Session} session
 * @param {() => string} base the URL of the application
 * @param {(told: {text: string, isProblem: boolean}) => void} tell
 */
export function offerMemorySwitch(button, session, base, tell) {
  button.addEventListener("click", async () => {
    const { id } = session.conversation;
    const on = !session.memory;
    if (id && !(await post(`${base()}${id}/memory/`, { on: String(on) }))) {
      tell({ text: gettext("That didn’t work. Check your connection and try again."), isProblem: true });
      return;
    }
    session.memory = on;
    button.ariaChecked = String(on);
    tell({ text: on ? ON : OFF, isProblem: false });
  });
}

const ON = gettext("Memory is on for this conversation, starting with your next message.");
const OFF = gettext("Memory is off for this conversation, starting with your next message.");
