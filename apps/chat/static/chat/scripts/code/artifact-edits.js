/** The user's changes of an artifact: stored as a draft, and sent with the next message. */

import { blockOf } from "./artifacts.js";
import { gettext } from "../texts.js";

/**
 * @import { Artifact } from "./artifacts.js"
 * @import { ChatComposer } from "../composer/composer.js"
 */

const INTRO = gettext("I changed this. Continue with my version:");

/** @returns {ChatComposer | null} the message box, if the user can write a message */
export function messageBox() {
  const box = /** @type {ChatComposer | null} */ (document.querySelector("chat-composer"));
  return box && !box.ended && !box.disabled ? box : null;
}

/** @param {Artifact} artifact any version of it @returns {string} the changed text, or "" */
export function readDraft(artifact) {
  return messageBox()?.drafts?.read(keyOf(artifact)) ?? "";
}

/** @param {Artifact} artifact any version of it @param {string} text "" for no draft */
export function writeDraft(artifact, text) {
  messageBox()?.drafts?.write(keyOf(artifact), text);
}

/** @param {Artifact} artifact */
function keyOf({ name }) {
  return `${messageBox()?.draftKey}#${name}`;
}

/** @param {Artifact} artifact @returns {boolean} whether the message contains exactly this version */
export function isIn(artifact, message = messageBox()?.text ?? "") {
  return message.includes(changeOf(artifact));
}

/** Add the version to the message, in place of an earlier one. @param {Artifact} artifact @returns {string} the reason why this is not possible, or "" */
export function addToMessage(artifact) {
  const box = messageBox();
  if (!box) return gettext("You can’t send a message now.");
  const message = [without(box.text, artifact), changeOf(artifact)].filter(Boolean).join("\n\n");
  if (message.length > box.limit) {
    return gettext("The message would have {count} characters; the limit is {limit}.", { count: message.length, limit: box.limit });
  }
  box.fill(`${message}\n\n`);
  return "";
}

/** @param {Artifact} artifact */
export function removeFromMessage(artifact) {
  const box = messageBox();
  box?.fill(without(box.text, artifact));
}

/** @param {Artifact} artifact */
function changeOf(artifact) {
  return `${INTRO}\n\n${blockOf(artifact)}`;
}

/** @param {string} message @param {Artifact} artifact @returns {string} the message without any version of the artifact */
function without(message, artifact) {
  const [head] = blockOf({ ...artifact, text: "" }).split("\n", 1);
  const info = head.replace(/^`+/, "");
  const start = `${INTRO}\n\n`;
  const change = new RegExp(`${quoted(start)}(\`{3,})${quoted(info)}\\n[\\s\\S]*?\\n\\1(?:\\n+|$)`);
  return message.replace(change, "").trim();
}

/** @param {string} text @returns {string} a pattern that matches it */
function quoted(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
