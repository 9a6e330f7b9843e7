/** The session of the chat page, and the data that it stores in the browser under the conversation's URL. */

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

/** The base URL of the application. */
export function base() {
  return page.address ?? "";
}

/** The limits of attached files. @returns {import("../files/uploads.js").Limits} */
export function limits() {
  return {
    size: Number(page.uploadLimit) || Infinity,
    types: (page.uploadTypes ?? "").split(",").filter(Boolean),
    names: page.uploadNames ?? "",
    most: Number(page.uploadMost) || Infinity,
  };
}

/** Files are uploaded for a conversation that does not exist yet; after a reload, they are found again. @param {string | null} conversation that is open */
export function beginning(conversation) {
  const begin = sessionStorage.getItem(beginKey()) ?? uuid();
  if (!conversation) sessionStorage.setItem(beginKey(), begin);
  return begin;
}

/** The new conversation has begun; the next one gets a new ID. */
export function forgetBeginning() {
  sessionStorage.removeItem(beginKey());
}

function beginKey() {
  return `begin ${page.address}`;
}

/** The key of the open conversation's draft. */
export function draftKey() {
  return `${base()}${session.conversation.id ?? ""}`;
}
