/** Anchors in an answer, shown as small numbers that link to their sources. */

import { lastSegment, webAddress } from "../addresses.js";
import "./citation-card.js";
import { gettext } from "../texts.js";

/** @import { Source } from "../files/sources.js" */

/** The maximum length of a cited sentence. */
const LONGEST = 300;

/**
 * A source that an application reports. It is untrusted, like all content of models.
 * @typedef {Record<string, unknown>} Annotation
 */

/**
 * Numbers the anchors. Anchors without a known source show nothing.
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
  const { place, address, sentence } = annotationSource(number, annotation);
  return citationMark(String(number), place, address, sentence);
}

/**
 * @param {number} number
 * @param {Annotation} annotation
 * @returns {Source}
 */
export function annotationSource(number, annotation) {
  const source = sourceOf(annotation);
  const where = webAddress(text(source.url) || text(source.reference_url));
  const place = where?.origin === location.origin ? lastSegment(where.pathname) : where?.host;
  const sentence = text(source.quote ?? source.cited_text ?? source.snippet).slice(0, LONGEST);
  return { number: String(number), place: text(source.title) || place || "", sentence, address: where?.href ?? "" };
}

/**
 * @param {string} number
 * @param {string} title
 * @param {string} address a URL that a browser may open, or ""
 * @param {string} [quote] the sentence that is cited
 */
export function citationMark(number, title, address, quote = "") {
  const element = document.createElement(address ? "a" : "span");
  if (element instanceof HTMLAnchorElement) {
    element.href = address;
    element.target = "_blank";
    element.rel = "noopener noreferrer";
    element.setAttribute("aria-label", gettext("Source {number}: {title}", { number, title }));
  }
  element.className = "citation";
  Object.assign(element.dataset, { title, quote, host: address && hostOf(address) });
  element.textContent = number;
  return element;
}

/** @param {string} address @returns {string} "" on this installation */
function hostOf(address) {
  const { origin, host } = new URL(address);
  return origin === location.origin ? "" : host;
}

/** @param {Annotation} annotation */
function idOf(annotation) {
  return text(annotation.id ?? annotation.data_id ?? annotation["data-id"]);
}

/** OpenAI nests title and URL one level deeper. @param {Annotation} annotation @returns {Annotation} */
function sourceOf(annotation) {
  const below = annotation.url_citation;
  return below && typeof below === "object" ? /** @type {Annotation} */ (below) : annotation;
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
