/** Anchors in an answer, as small numbers that lead to the sources behind them. */

import { lastSegment, webAddress } from "./addresses.js";

/**
 * What an application tells of one source. It is untrusted, like everything of a model.
 * @typedef {Record<string, unknown>} Annotation
 */

/**
 * Number the anchors; those whose source is not known, or not yet, show nothing.
 * @param {ParentNode} root
 * @param {Annotation[]} annotations in the order of their numbers
 */
export function showCitations(root, annotations) {
  const ids = annotations.map(idOf);
  for (const anchor of root.querySelectorAll("sup[data-cit]")) {
    const index = ids.indexOf(anchor.getAttribute("data-cit") ?? "");
    anchor.replaceChildren(...(index < 0 ? [] : [mark(index + 1, annotations[index])]));
  }
}

/** @param {number} number @param {Annotation} annotation */
function mark(number, annotation) {
  const source = sourceOf(annotation);
  const where = webAddress(text(source.url) || text(source.reference_url));
  const place = where?.origin === location.origin ? lastSegment(where.pathname) : where?.host;
  return citationMark(String(number), text(source.title) || place || "", where?.href ?? "");
}

/**
 * @param {string} number
 * @param {string} title
 * @param {string} address where a browser may go, or ""
 */
export function citationMark(number, title, address) {
  const element = document.createElement(address ? "a" : "span");
  if (element instanceof HTMLAnchorElement) {
    element.href = address;
    element.target = "_blank";
    element.rel = "noopener noreferrer";
    element.setAttribute("aria-label", `Source ${number}: ${title}`);
  }
  element.className = "citation";
  element.title = title;
  element.textContent = number;
  return element;
}

/** @param {Annotation} annotation */
function idOf(annotation) {
  return text(annotation.id ?? annotation.data_id ?? annotation["data-id"]);
}

/** OpenAI keeps title and address one level below. @param {Annotation} annotation @returns {Annotation} */
function sourceOf(annotation) {
  const below = annotation.url_citation;
  return below && typeof below === "object" ? /** @type {Annotation} */ (below) : annotation;
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
