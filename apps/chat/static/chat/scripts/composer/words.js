/** The composer's messages about its state. */

import { sendsWithEnter } from "../preferences.js";
import { gettext, ngettext } from "../texts.js";

/** @import { ChatComposer } from "./composer.js" */

/** @param {ChatComposer} composer */
export function placeholderOf({ isAnswer, waiting, busy }) {
  if (isAnswer) return gettext("Answer the question above…");
  if (waiting) return gettext("The answer is waiting for you, above");
  return busy ? gettext("Write the next message…") : gettext("Ask something…");
}

/** Explains the send key if it does something else than ask. @param {ChatComposer} composer */
export function hintOf({ disabled, busy, connected, isAnswer, hasWords }) {
  if (disabled || !busy) return "";
  if (!connected) return gettext("No connection: your text stays here.");
  const withEnter = sendsWithEnter();
  if (isAnswer) {
    return withEnter ? gettext("Enter answers the question above.") : gettext("Ctrl + Enter answers the question above.");
  }
  if (!hasWords) return "";
  return withEnter
    ? gettext("Enter queues the message: it is sent after this answer.")
    : gettext("Ctrl + Enter queues the message: it is sent after this answer.");
}

/** The reason why the message cannot be sent and how to fix it, or "". @param {ChatComposer} composer */
export function obstacleOf({ uploads, excess, busy, connected, ready, disabled, hasWords }) {
  const items = uploads?.items ?? [];
  const failed = items.find(({ state }) => state === "failed");
  const most = uploads?.limits.most ?? 0;
  if (disabled) return disabled;
  if (!hasWords) return busy ? gettext("Nothing sent: enter the next message first.") : gettext("Nothing sent: enter a message first.");
  if (failed?.isRetryable) return gettext("Not sent: {name} could not be uploaded. Remove it or retry.", { name: failed.name });
  if (failed) return gettext("Not sent: {name} could not be uploaded. Remove it.", { name: failed.name });
  if (uploads?.isPending) return gettext("Not sent: a file is still being uploaded.");
  if (items.length > most) return gettext("Not sent: a question can have at most {most} files.", { most });
  if (excess > 0) return ngettext("Not sent: the message is {count} character too long.", "Not sent: the message is {count} characters too long.", excess);
  if (busy && !connected) return gettext("Not sent: there is no connection.");
  return ready ? "" : gettext("Not sent: the conversation is still being loaded.");
}

/** @param {ChatComposer} composer */
export function countWords({ excess, text, limit }) {
  return excess > 0
    ? ngettext("{count} character too many", "{count} characters too many", excess)
    : gettext("{length} of {limit} characters", { length: text.length, limit });
}
