// The parts of a page that its template always has.

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/**
 * Find one part, and fail if the template lacks it.
 * @template {Element} Part
 * @param {ParentNode} root @param {string} selector @param {new () => Part} kind
 * @returns {Part}
 */
export function part(root, selector, kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} ${selector}.`);
  return found;
}

/**
 * Find all parts of one kind.
 * @template {Element} Part
 * @param {ParentNode} root @param {string} selector @param {new () => Part} kind
 * @returns {Part[]}
 */
export function parts(root, selector, kind) {
  return /** @type {Part[]} */ ([...root.querySelectorAll(selector)].filter((one) => one instanceof kind));
}

/** For a request without an answer, or with that of the page to sign in. */
export const UNREACHABLE = "This server is unreachable, or you are signed out.";

/** Return the message of what was thrown. @param {unknown} error */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
