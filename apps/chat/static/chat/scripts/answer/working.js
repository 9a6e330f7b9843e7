/** The line that says that something is going on, where the next words will come. */

import { html, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/** @import { Answer } from "../session/answers.js" */
/** @import { Question } from "../session/conversation.js" */

/** @param {string} words */
export function working(words) {
  return html`<p class="working"><span class="dots" aria-hidden="true"></span>${words}</p>`;
}

/**
 * Below the last question, from the moment of asking until its answer has begun.
 * @param {Question | Answer | undefined} last turn @param {boolean} busy whether an answer is awaited
 */
export function awaiting(last, busy) {
  if (last?.role !== "user") return nothing;
  if (last.sending) return working(gettext("Sending…"));
  return busy ? working(`${gettext("Thinking")}…`) : nothing;
}
