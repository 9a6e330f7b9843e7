/** The files of the next question, with their progress and actions. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { sizeText } from "../sizes.js";
import { gettext } from "../texts.js";

/** @import { Upload, Uploads } from "./uploads.js" */

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/;
/** @type {WeakMap<File, string>} URLs of files in the browser, while the page is open */
const pictures = new WeakMap();

/** @param {File} file @returns {string} */
function pictureOf(file) {
  const known = pictures.get(file);
  if (known) return known;
  const made = URL.createObjectURL(file);
  pictures.set(file, made);
  return made;
}

/** @param {Uploads} uploads @param {() => void} refocus is called if the focused element was removed */
export function tray(uploads, refocus) {
  if (!uploads.items.length) return nothing;
  const { most } = uploads.limits;
  const excess = uploads.items.length - most;
  return html`<ul class="tray" aria-label=${gettext("Files to send")}>
      ${uploads.items.map((upload) => html`<li>${chip(upload, uploads, refocus)}</li>`)}
    </ul>
    ${excess > 0 ? html`<p class="tray-problem">${gettext("A question can have up to {most} files. Number of files to remove: {excess}.", { most, excess })}</p>` : nothing}`;
}

/** @param {Upload} upload @param {Uploads} uploads @param {() => void} refocus */
function chip(upload, uploads, refocus) {
  const { id, name, state, isRetryable } = upload;
  const symbol = state === "failed" ? "triangle-alert" : PICTURE.test(upload.type) ? "image" : "file-text";
  const going = state === "sending" || state === "waiting";
  const drop = () => {
    uploads.drop(id);
    refocus();
  };
  return html`<div class="chip" data-state=${state}>
    ${state !== "failed" && upload.file && PICTURE.test(upload.type)
      ? html`<img class="chip-picture" src=${pictureOf(upload.file)} alt="" width="40" height="40" />`
      : icon(symbol)}
    <span class="chip-words">
      <span class="chip-name" dir="auto" title=${name}>${name}</span>
      ${detail(upload)}
    </span>
    ${isRetryable && state === "failed"
      ? html`<button type="button" class="quiet" title=${gettext("Retry")} @click=${() => uploads.retry(id)}>
          ${icon("refresh-cw")}<span class="visually-hidden">${gettext("Retry {name}", { name })}</span>
        </button>`
      : nothing}
    <button type="button" class="quiet" title=${going ? gettext("Cancel") : gettext("Remove")} @click=${drop}>
      ${icon("x")}<span class="visually-hidden">${going ? gettext("Cancel uploading {name}", { name }) : gettext("Remove {name}", { name })}</span>
    </button>
  </div>`;
}

/** @param {Upload} upload */
function detail({ state, name, size, progress, problem }) {
  if (state === "failed") return html`<span class="chip-detail">${problem}</span>`;
  if (state === "waiting") return html`<span class="chip-detail">${gettext("Waiting")}</span>`;
  if (state === "sending") {
    return html`<progress max="1" .value=${progress} aria-label=${gettext("Uploading {name}", { name })}></progress>`;
  }
  return html`<span class="chip-detail">${size ? sizeText(size) : gettext("Uploaded")}</span>`;
}
