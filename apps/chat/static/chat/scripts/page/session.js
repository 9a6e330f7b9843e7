/** The session of the chat page, and what it keeps in the browser under the address of the conversation. */

import { Connection } from "../session/connection.js";
import { page } from "./parts.js";
import { Session, uuid } from "../session/session.js";
import { Uploads } from "../files/uploads.js";

export const connection = new Connection(page.socket ?? "");
export const session = new Session(connection, page.conversation || null, beginning(page.conversation || null));
session.place = page.place ?? "";
session.readOnly = page.readOnly ?? "";
session.narrative = page.narrative ?? "";
session.application = page.application ?? "";
export const uploads = new Uploads(`${base()}files/`, limits(), () => session.conversation.id ?? session.begin);

/** The address of the application. */
export function base() {
  return page.address ?? "";
}

/** Of files that may be attached. @returns {import("../files/uploads.js").Limits} */
export function limits() {
  return {
    size: Number(page.uploadLimit) || Infinity,
    types: (page.uploadTypes ?? "").split(",").filter(Boolean),
    most: Number(page.uploadMost) || Infinity,
  };
}

/** Files are uploaded for a conversation that has yet to begin; a reload finds them again. @param {string | null} conversation that is open */
export function beginning(conversation) {
  const begin = sessionStorage.getItem(beginKey()) ?? uuid();
  if (!conversation) sessionStorage.setItem(beginKey(), begin);
  return begin;
}

/** The conversation that was to begin has begun; the next one gets an id of its own. */
export function forgetBeginning() {
  sessionStorage.removeItem(beginKey());
}

function beginKey() {
  return `begin ${page.address}`;
}

/** Under which the draft of the open conversation is kept. */
export function draftKey() {
  return `${base()}${session.conversation.id ?? ""}`;
}
