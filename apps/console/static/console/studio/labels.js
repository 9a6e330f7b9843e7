// The labels of the studio's fields by their paths in the manifest. The server owns them.

import { split } from "../manifest/paths.js";

/**
 * @import { Store } from "./store.js"
 */

/** The label of a field; undefined if it has none. @param {Store} store @param {string} path @returns {string | undefined} */
export const labelAt = (store, path) => store.data.labels.fields[pattern(path)];

/** The path with `[]` for each index. @param {string} path @returns {string} */
export const pattern = (path) =>
  split(path).reduce((/** @type {string} */ text, part) => (typeof part === "number" ? `${text}[]` : text ? `${text}.${part}` : part), "");
