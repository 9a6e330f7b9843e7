// Finds the parts that a page's template always contains.

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/**
 * Find one part; throws if the template lacks it.
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

/** The message for a request without a response, or with the sign-in page as the response. */
export const UNREACHABLE = "This server is unreachable, or you are signed out.";

/** Return the message of an error. @param {unknown} error */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
