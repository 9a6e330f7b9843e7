/** Checks which URLs from a model a browser may open. */

const FILE = /^(?:files\/[^/]+|shared\/[^/]+\/files)\/./;
const SHOWN = /^\/(?:files\/|shared\/[^/]+\/files\/)/;
const CONVERSATION = /^\/chat\/[\w-]{1,50}\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\/$/;

/** Before the path of each stored file, for a frame on another site, which has no cookie. */
let filesBase = "";

/** @param {string} base */
export function readFilesBelow(base) {
  filesBase = base;
}

/**
 * Returns the URL at which the server serves a stored file (`files/…`, or `shared/…` below the link of a shared conversation).
 * @param {string} address @returns {URL | null} null if the browser cannot or must not open it
 */
export function webAddress(address) {
  if (FILE.test(address)) return fileAddress(address);
  return /^(?:https?:\/\/|\/(?!\/))/i.test(address) ? parsed(address) : null;
}

/** @param {string} address @returns {URL | null} null if it is not a file of this installation */
export function fileAddress(address) {
  const found = FILE.test(address) ? parsed(`/${address}`) : null;
  if (!found || !SHOWN.test(found.pathname)) return null;
  found.pathname = filesBase + found.pathname;
  return found;
}

/** Returns true for the URL of a conversation on this page. @param {string} address */
export function isConversation(address) {
  return CONVERSATION.test(address);
}

/** The last segment of a URL, decoded for display. @param {string} address */
export function lastSegment(address) {
  const segment = address.split(/[?#]/)[0].split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** @param {string} address */
function parsed(address) {
  try {
    return new URL(address, location.origin);
  } catch {
    return null;
  }
}
