/** Attachments as cards. Pictures are shown if they need no request to another site; all others are links. */

import { html, nothing } from "../../vendor/lit.js";
import { fileAddress, lastSegment, webAddress } from "../addresses.js";
import { icon } from "../icons.js";
import { isReadable } from "./preview.js";
import "../markdown/markdown.js";
import { gettext } from "../texts.js";

/** @import { Attachment } from "../session/frames.js" */

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i;
const MEDIA = /^(audio|video)\/[\w.+-]+$/i;
const WORDS = /^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;

/** @param {Attachment[]} attachments */
export function attachmentCards(attachments) {
  if (!attachments.length) return nothing;
  const pictures = attachments.filter(isShown).length;
  return html`<ul class="attachments ${pictures > 1 ? "gallery" : ""}" aria-label=${gettext("Attachments")}>
    ${attachments.map((attachment) => html`<li>${card(attachment)}</li>`)}
  </ul>`;
}

/** The files that were missing in an import. @param {string[]} [names] */
export function leftOutNotice(names) {
  if (!names?.length) return nothing;
  return html`<p class="left-out">${icon("circle-alert")}<span dir="auto">${gettext("Not imported: {names}", { names: names.join(", ") })}</span></p>`;
}

/** @param {Attachment} attachment @returns {string} the address of a picture that is shown here, or "" */
function isShown(attachment) {
  return PICTURE.test(attachment.type ?? "") ? pictureAddress(attachment) : "";
}

/** @param {Attachment} attachment */
function card(attachment) {
  const { type = "", data } = attachment;
  const picture = isShown(attachment);
  if (picture) return pictureCard(attachment, picture);
  const media = MEDIA.exec(type)?.[1].toLowerCase();
  if (media) {
    const address = mediaAddress(attachment);
    if (address) return mediaCard(attachment, media, address);
  }
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
  if (/^application\/pdf$/.test(type)) {
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
  const image = html`<img src=${address} alt=${name} loading="lazy" @error=${markMissing} />`;
  return html`<figure class="attachment picture">
    ${stored
      ? html`<a href=${stored.pathname} target="_blank" rel="noopener" data-zoom>${image}</a>`
      : html`<button type="button" class="zoom" data-zoom>${image}</button>`}
    <p class="picture-missing">${icon("image")}${gettext("This image can’t be shown.")}</p>
    <figcaption>
      ${stored ? html`<a href=${stored.pathname} target="_blank" rel="noopener">${name}</a>` : name}
      ${sourceLink(attachment)}
    </figcaption>
  </figure>`;
}

/** @param {Attachment} attachment @returns {string} "" for attachments elsewhere */
function mediaAddress({ type, url, data }) {
  if (data) return data.startsWith("data:") ? data : `data:${type};base64,${data}`;
  return fileAddress(url ?? "")?.pathname ?? "";
}

/** @param {Attachment} attachment @param {string} kind "audio" or "video" @param {string} address */
function mediaCard(attachment, kind, address) {
  const name = nameOf(attachment);
  return html`<figure class="attachment media">
    ${kind === "audio"
      ? html`<audio controls preload="metadata" src=${address} aria-label=${name}></audio>`
      : html`<video controls preload="metadata" src=${address} aria-label=${name}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${name}</span>
      <a class="quiet" href=${address.startsWith("data:") ? address : `${address}?download`} download=${name} title=${gettext("Download")}>
        ${icon("download")}<span class="visually-hidden">${gettext("Download {name}", { name })}</span>
      </a>
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
  // Untyped bytes, because a page from the model that opened in a tab would have this site's origin.
  const address = `data:application/octet-stream;base64,${data.replace(/^data:[^,]*,/, "")}`;
  const name = nameOf(attachment);
  const link = html`<a class="attachment file" href=${address} download=${name}>
    ${icon("file-text")}${labels(attachment, gettext("Download"))}
  </a>`;
  if (!/^text\/html\b/i.test(attachment.type ?? "")) return link;
  return html`${link}<button type="button" class="button" @click=${openPage}>${icon("eye")}${gettext("Preview {name}", { name })}</button>`;

  /** @param {Event} event */
  async function openPage({ currentTarget }) {
    const { openText } = await import("../code/artifact-panel.js");
    await openText(name, "html", textOf(data), /** @type {HTMLElement} */ (currentTarget));
  }
}

/** @param {string} data in base64, or as it is @returns {string} */
function textOf(data) {
  try {
    const bytes = Uint8Array.from(atob(data.replace(/^data:[^,]*,/, "")), (sign) => sign.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return data;
  }
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
  return html`<a href=${where.href} target="_blank" rel="noopener noreferrer">${gettext("Source: {host}", { host: where.host })}</a>`;
}

/** @param {Attachment} attachment */
function nameOf({ title, type, url }) {
  return title || lastSegment(url ?? "") || type || gettext("Attachment");
}

/** @param {Event} event of a picture that was deleted, or is none */
function markMissing(event) {
  const picture = /** @type {HTMLImageElement} */ (event.target);
  picture.closest("[data-zoom]")?.removeAttribute("data-zoom"); // the viewer skips it
  picture.closest("figure")?.setAttribute("data-missing", "");
}

/** @param {string} address */
function isOwn(address) {
  return webAddress(address)?.origin === location.origin;
}
