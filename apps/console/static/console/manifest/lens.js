// Applies edits in the form to the document, and nothing else.
//
// The form shows only part of the document and writes some values differently. Therefore only the
// difference between two states of the form is applied, and all other values stay unchanged.

/**
 * @typedef {(string | number)[]} Path
 */

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
/** @param {unknown} value */
const text = (value) => JSON.stringify(value);
/** @param {unknown} one @param {unknown} other */
export const same = (one, other) => text(one) === text(other);

/**
 * `before` and `after` are states of the form; the result is `document` with their difference.
 * @param {unknown} document @param {unknown} before @param {unknown} after @returns {unknown}
 */
export function merge(document, before, after) {
  if (same(before, after)) return document;
  if (isObject(document) && isObject(before) && isObject(after)) {
    return mergeObjects(document, before, after);
  }
  if (Array.isArray(document) && Array.isArray(before) && Array.isArray(after)) {
    return mergeLists(document, before, after);
  }
  return after;
}

/**
 * @param {Record<string, unknown>} document @param {Record<string, unknown>} before @param {Record<string, unknown>} after
 */
function mergeObjects(document, before, after) {
  const result = { ...document };
  for (const key of Object.keys(before)) {
    if (!(key in after)) delete result[key];
  }
  for (const [key, value] of Object.entries(after)) {
    if (!(key in before)) result[key] = value;
    else if (!same(before[key], value)) result[key] = merge(document[key], before[key], value);
  }
  return result;
}

/**
 * Moved items are recognized if unchanged; edited items keep their order.
 * @param {unknown[]} document @param {unknown[]} before @param {unknown[]} after
 */
function mergeLists(document, before, after) {
  const free = new Map(before.map((item, index) => [index, text(item)]));
  /** @param {number} index */
  const take = (index) => {
    free.delete(index);
    return index;
  };
  const origins = after.map((item, index) => {
    const written = text(item);
    if (free.get(index) === written) return take(index);
    return null;
  });
  after.forEach((item, index) => {
    if (origins[index] !== null) return;
    const written = text(item);
    for (const [candidate, known] of free) {
      if (known === written) {
        origins[index] = take(candidate);
        return;
      }
    }
  });
  const left = [...free.keys()];
  const edited = origins.filter((origin) => origin === null).length;
  const paired = edited === left.length ? left : [];
  return after.map((item, index) => {
    const origin = origins[index] ?? paired.shift();
    if (origin === undefined || origin >= document.length) return item;
    return merge(document[origin], before[origin], item);
  });
}

/**
 * Returns the paths (lists of keys) of values that the form does not show, or shows differently.
 * @param {unknown} document @param {unknown} form @param {Path} path @returns {Path[]}
 */
export function unseen(document, form, path = []) {
  if (isObject(document) && isObject(form)) {
    return Object.keys(document).flatMap((key) =>
      key in form ? unseen(document[key], form[key], [...path, key]) : [[...path, key]],
    );
  }
  if (Array.isArray(document) && Array.isArray(form)) {
    return document.flatMap((item, index) => unseen(item, form[index], [...path, index]));
  }
  const isNothing = document === null && (form === undefined || isEmpty(form));
  return same(document, form) || isNothing ? [] : [path];
}

/** @param {unknown} value */
const isEmpty = (value) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
