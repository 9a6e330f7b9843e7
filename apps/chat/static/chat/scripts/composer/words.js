/** The composer's messages about its state. */

import { sendsWithEnter } from "../preferences.js";
import { gettext, ngettext } from "../texts.js";

/** @import { ChatComposer } from "./composer.js" */

/** @param {ChatComposer} composer */
export function placeholderOf({ isAnswer, waiting, busy }) {
  if (isAnswer) return gettext("Answer the question above…");
  if (waiting) return gettext("Answer above first");
  return busy ? gettext("Write the next message…") : gettext("Ask something…");
}

/** Explains the send key if it does something else than ask. @param {ChatComposer} composer */
export function hintOf({ disabled, busy, connected, isAnswer, hasWords }) {
  if (disabled || !busy) return "";
  if (!connected) return hasWords ? gettext("You’re offline. Your text stays in the message box.") : "";
  const withEnter = sendsWithEnter();
  if (isAnswer) {
    return withEnter ? gettext("Press Enter to answer the question above.") : gettext("Press Ctrl + Enter to answer the question above.");
  }
  if (!hasWords) return "";
  return withEnter
    ? gettext("Press Enter to queue the message. It will be sent after this answer.")
    : gettext("Press Ctrl + Enter to queue the message. It will be sent after this answer.");
}

/** The reason why the message cannot be sent and how to fix it, or "". @param {ChatComposer} composer */
export function obstacleOf({ uploads, excess, busy, connected, ready, disabled, hasWords }) {
  const items = uploads?.items ?? [];
  const failed = items.find(({ state }) => state === "failed");
  const most = uploads?.limits.most ?? 0;
  if (disabled) return disabled;
  if (!hasWords) return busy ? gettext("Enter your next message first.") : gettext("Enter a message first.");
  if (failed?.isRetryable) return gettext("Not sent because {name} could not be uploaded. Remove the file or retry the upload.", { name: failed.name });
  if (failed) return gettext("Not sent because {name} could not be uploaded. Remove the file.", { name: failed.name });
  if (uploads?.isPending) return gettext("Not sent because files are still uploading. Wait a moment, then try again.");
  if (items.length > most) return gettext("Not sent because a question can have at most {most} files. Remove some files.", { most });
  if (excess > 0) return ngettext("Not sent. Shorten the message by {count} character.", "Not sent. Shorten the message by {count} characters.", excess);
  if (busy && !connected) return gettext("Not sent because there is no connection. Try again when you’re back online.");
  return ready ? "" : gettext("Not sent because the conversation is still loading. Wait a moment, then try again.");
}

/** @param {ChatComposer} composer */
export function countWords({ excess, text, limit }) {
  return excess > 0
    ? ngettext("{count} character too many", "{count} characters too many", excess)
    : gettext("{length} of {limit} characters", { length: text.length, limit });
}
