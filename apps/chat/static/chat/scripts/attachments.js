/** Attachments as cards. A picture is shown when it costs no request elsewhere; the rest is a link. */

import { html, nothing } from "../vendor/lit.js";
import { fileAddress, lastSegment, webAddress } from "./addresses.js";
import { icon } from "./icons.js";
import { isReadable } from "./preview.js";
import "./markdown.js";

/** @import { Attachment } from "./frames.js" */

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i;
const WORDS = /^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;

/** @param {Attachment[]} attachments */
export function attachmentCards(attachments) {
  if (!attachments.length) return nothing;
  return html`<ul class="attachments" aria-label="Attachments">
    ${attachments.map((attachment) => html`<li>${card(attachment)}</li>`)}
  </ul>`;
}

/** @param {Attachment} attachment */
function card(attachment) {
  const { type = "", data } = attachment;
  const picture = PICTURE.test(type) ? pictureAddress(attachment) : "";
  if (picture) return pictureCard(attachment, picture);
  if (data && WORDS.test(type)) return wordsCard(attachment, data);
  if (data) return downloadCard(attachment, data);
  const stored = fileAddress(attachment.url ?? "");
  return stored ? storedCard(attachment, stored.pathname) : linkCard(attachment);
}

/** @param {Attachment} attachment @param {string} address of a file of this installation */
function storedCard(attachment, address) {
  const { type = "" } = attachment;
  const name = nameOf(attachment);
  if (isReadable(type)) {
    return html`<file-preview .address=${address} .name=${name} .type=${type}></file-preview>`;
  }
  const detail = type.split(";")[0];
  if (/^(?:application\/pdf|audio\/.+|video\/.+)$/.test(type)) {
    return html`<a class="attachment file" href=${address} target="_blank" rel="noopener">
      ${icon("file-text")}${labels(attachment, detail)}${icon("external-link")}
    </a>`;
  }
  return html`<a class="attachment file" href="${address}?download" download=${name}>
    ${icon("file-text")}${labels(attachment, detail)}${icon("download")}
  </a>`;
}

/** @param {Attachment} attachment @returns {string} "" for a picture that is elsewhere */
function pictureAddress({ type, url, data }) {
  if (data) return data.startsWith("data:") ? data : `data:${type};base64,${data}`;
  if (url && /^data:image\//i.test(url)) return url;
  return url && isOwn(url) ? (webAddress(url)?.href ?? "") : "";
}

/** @param {Attachment} attachment @param {string} address */
function pictureCard(attachment, address) {
  const stored = fileAddress(attachment.url ?? "");
  const name = nameOf(attachment);
  return html`<figure class="attachment picture">
    <img src=${address} alt="" loading="lazy" @error=${markMissing} />
    <figcaption>
      ${stored ? html`<a href=${stored.pathname} target="_blank" rel="noopener">${name}</a>` : name}
      ${sourceLink(attachment)}
    </figcaption>
  </figure>`;
}

/** @param {Attachment} attachment @param {string} data */
function wordsCard(attachment, data) {
  const isMarkdown = attachment.type === "text/markdown";
  return html`<details class="attachment words">
    <summary>${icon("chevron-right")}${icon("file-text")}<span>${nameOf(attachment)}</span></summary>
    ${isMarkdown
      ? html`<markdown-text .text=${data} .complete=${true}></markdown-text>`
      : html`<pre tabindex="0" role="group" aria-label=${nameOf(attachment)}>${data}</pre>`}
    ${sourceLink(attachment)}
  </details>`;
}

/** @param {Attachment} attachment @param {string} data in base64 */
function downloadCard(attachment, data) {
  // As bytes without a type: shown in a tab, a page of the model's would run as one of ours.
  const address = `data:application/octet-stream;base64,${data.replace(/^data:[^,]*,/, "")}`;
  return html`<a class="attachment file" href=${address} download=${nameOf(attachment)}>
    ${icon("file-text")}${labels(attachment, "Download")}
  </a>`;
}

/** @param {Attachment} attachment */
function linkCard(attachment) {
  const address = attachment.url ?? attachment.reference_url ?? "";
  const where = webAddress(address);
  const symbol = icon(PICTURE.test(attachment.type ?? "") ? "image" : "file-text");
  if (!where) return html`<span class="attachment file">${symbol}${labels(attachment, address)}</span>`;
  return html`<a class="attachment file" href=${where.href} target="_blank" rel="noopener noreferrer">
    ${symbol}${labels(attachment, where.host)}${icon("external-link")}
  </a>`;
}

/** @param {Attachment} attachment @param {string} detail */
function labels(attachment, detail) {
  return html`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${nameOf(attachment)}</span>
    <span class="attachment-detail">${detail}</span>
  </span>`;
}

/** @param {Attachment} attachment */
function sourceLink({ reference_url }) {
  const where = webAddress(reference_url ?? "");
  if (!where) return nothing;
  return html`<a href=${where.href} target="_blank" rel="noopener noreferrer">Source: ${where.host}</a>`;
}

/** @param {Attachment} attachment */
function nameOf({ title, type, url }) {
  return title || lastSegment(url ?? "") || type || "Attachment";
}

/** @param {Event} event of a picture that was deleted, or is none */
function markMissing(event) {
  const picture = /** @type {HTMLImageElement} */ (event.target);
  picture.hidden = true;
  picture.closest("figure")?.setAttribute("data-missing", "");
}

/** @param {string} address */
function isOwn(address) {
  return webAddress(address)?.origin === location.origin;
}
