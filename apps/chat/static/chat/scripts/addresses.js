/** Where a browser may go that was told by a model. */

const FILE = /^files\/[^/]+\/./;

/**
 * A stored file, `files/…`, is where the server shows it.
 * @param {string} address @returns {URL | null} null where a browser cannot go, or must not
 */
export function webAddress(address) {
  if (FILE.test(address)) return fileAddress(address);
  return /^(?:https?:\/\/|\/(?!\/))/i.test(address) ? parsed(address) : null;
}

/** @param {string} address @returns {URL | null} null for what is no file of this installation */
export function fileAddress(address) {
  const found = FILE.test(address) ? parsed(`/${address}`) : null;
  return found?.pathname.startsWith("/files/") ? found : null;
}

/** The last segment of an address, as a person writes it. @param {string} address */
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
