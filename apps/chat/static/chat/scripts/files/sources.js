/** Citations of documents, which arrive as attachments of an answer, and their list below it. */

import { html, nothing } from "../../vendor/lit.js";
import { webAddress } from "../addresses.js";
import { attachmentCards } from "./attachments.js";
import { annotationSource } from "../markdown/citations.js";
import { gettext } from "../texts.js";

/** @import { Annotation } from "../markdown/citations.js" */
/** @import { Attachment } from "../session/frames.js" */

/**
 * A cited sentence. All of it is untrusted.
 * @typedef {object} Source
 * @property {string} number that the text of the answer has in brackets
 * @property {string} place the file, and mostly the page
 * @property {string} sentence
 * @property {string} address of the document, of a PDF with its page, or ""
 */

const TITLE = /^\[(\d{1,4})\] (.*\S.*)$/;
/** A sentence has up to 300 characters; each may count as two here. */
const LONGEST = 600;

/** @param {Attachment[]} attachments @returns {Source[]} in the order of their numbers */
export function sourcesOf(attachments) {
  const found = attachments.map(sourceOf).filter((source) => source !== null);
  return found.sort((one, other) => Number(one.number) - Number(other.number));
}

/**
 * The content below a text: citations as a list, all others as cards.
 * @param {Attachment[]} attachments @param {Annotation[]} [annotations] of anchors in the text
 */
export function cardsAndSources(attachments, annotations = []) {
  const told = annotations.map((annotation, index) => annotationSource(index + 1, annotation)).filter(({ place }) => place);
  return html`${attachmentCards(attachments.filter((attachment) => !sourceOf(attachment)))}
    ${sourceList([...sourcesOf(attachments), ...told])}`;
}

/** @param {Attachment} attachment @returns {Source | null} null if the attachment cites nothing */
function sourceOf({ type, title, url, data, reference_url }) {
  const [, number, place] = TITLE.exec(title ?? "") ?? [];
  if (type !== "text/plain" || url || !data || data.length > LONGEST || !place) return null;
  return { number, place, sentence: data, address: webAddress(reference_url ?? "")?.href ?? "" };
}

/** @param {Source[]} sources */
function sourceList(sources) {
  if (!sources.length) return nothing;
  return html`<div class="sources">
    <h3>${gettext("Sources")}</h3>
    <ul>
      ${sources.map((source) => html`<li>${entry(source)}</li>`)}
    </ul>
  </div>`;
}

/** @param {Source} source */
function entry({ number, place, sentence, address }) {
  return html`<span class="source-number">${number}</span>
    <div dir="auto">
      ${address
        ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${place}</a>${host(address)}`
        : place}
      ${sentence ? html`<q>${sentence}</q>` : nothing}
    </div>`;
}

/** The host of a link that leaves this site. @param {string} address */
function host(address) {
  const where = new URL(address);
  return where.origin === location.origin ? nothing : html` (${where.host})`;
}
