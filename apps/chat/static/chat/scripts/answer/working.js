/** The activity line, shown where the next text will appear. */

import { html, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/** @import { Answer } from "../session/answers.js" */
/** @import { Question } from "../session/conversation.js" */

/** @param {string} words */
export function working(words) {
  return html`<p class="working"><span class="dots" aria-hidden="true"></span>${words}</p>`;
}

/**
 * Shown below the last question until its answer begins.
 * @param {Question | Answer | undefined} last turn @param {boolean} busy true if an answer is awaited
 * @param {boolean} connected
 */
export function awaiting(last, busy, connected) {
  if (last?.role !== "user") return nothing;
  if (last.sending) return working(connected ? gettext("Sending…") : gettext("Will be sent when you’re back online."));
  return busy ? working(`${gettext("Thinking")}…`) : nothing;
}
