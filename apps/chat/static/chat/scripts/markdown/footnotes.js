/** Numbers in brackets, `[1]`, as small links to passages in documents. */

import { citationMark } from "./citations.js";

/** @import { Source } from "../files/sources.js" */

const NUMBER = /\[(\d{1,4})\]/;
/** Several numbers in one pair of brackets, `[1, 2]`. */
const SEVERAL = /\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})+)\]/g;
/** Brackets have another meaning in code and formulas, and links cannot be nested. */
const UNTOUCHED = "a, code, pre, math, .citation";

/**
 * Numbers without a source stay unchanged.
 * @param {DocumentFragment} root
 * @param {Source[]} sources
 */
export function showFootnotes(root, sources) {
  if (!sources.length) return;
  for (const text of textsWithNumbers(root)) text.replaceWith(...pieces(text, sources));
}

/** @param {DocumentFragment} root */
function textsWithNumbers(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = /** @type {Text} */ (walker.currentNode);
    if (/\[\d/.test(text.data) && !text.parentElement?.closest(UNTOUCHED)) found.push(text);
  }
  return found;
}

/** @param {Text} text @param {Source[]} sources */
function pieces(text, sources) {
  const isRaised = Boolean(text.parentElement?.closest("sup"));
  /** @param {string} number */
  const isKnown = (number) => sources.some((source) => source.number === number);
  const single = text.data.replace(SEVERAL, (whole, inner) => {
    const numbers = inner.split(/\s*[,;]\s*/);
    return numbers.every(isKnown) ? numbers.map((/** @type {string} */ one) => `[${one}]`).join("") : whole;
  });
  return single.split(NUMBER).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const source = sources.find(({ number }) => number === piece);
    if (!source) return `[${piece}]`;
    return isRaised ? footnote(source) : raised(footnote(source));
  });
}

/** @param {Source} source */
function footnote({ number, place, sentence, address }) {
  return citationMark(number, place, address, `“${sentence}”`);
}

/** @param {HTMLElement} mark */
function raised(mark) {
  const element = document.createElement("sup");
  element.append(mark);
  return element;
}
