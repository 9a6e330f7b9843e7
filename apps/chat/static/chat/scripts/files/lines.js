/** Lines in lists of files with a link and buttons, and the confirmation of a deletion. */

import { html, nothing } from "../../vendor/lit.js";
import { fileAddress } from "../addresses.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{name: string, url: string, type: string, size: number, updated_at: string,
 *   uploaded: boolean}} StoredFile
 */

/** @param {StoredFile} file @param {string} detail @param {() => void} ask @param {boolean} [isSaved] true if it can be downloaded here */
export function fileLine({ name, url, type }, detail, ask, isSaved = false) {
  const address = fileAddress(url)?.pathname ?? "";
  return html`<div class="files-line">
    ${icon(/^image\//.test(type) ? "image" : "file-text")}
    <span class="attachment-words">
      <a class="attachment-name" href=${address} target="_blank" rel="noopener" title=${name}>${name}</a>
      <span class="attachment-detail">${detail}</span>
    </span>
    ${isSaved
      ? html`<a class="quiet" href="${address}?download" download=${name} title=${gettext("Download")}>
          ${icon("download")}<span class="visually-hidden">${gettext("Download {name}", { name })}</span>
        </a>`
      : nothing}
    <button type="button" class="quiet" title=${gettext("Delete")} @click=${ask}>
      ${icon("trash-2")}<span class="visually-hidden">${gettext("Delete {name}", { name })}</span>
    </button>
  </div>`;
}

/** @param {StoredFile} file @param {() => void} keep @param {() => void} remove */
export function fileQuestion({ name }, keep, remove) {
  return html`<div class="files-question" role="group" aria-label=${gettext("Delete {name}", { name })}>
    <p>${gettext("“{name}” will be permanently deleted. Later answers can’t use it.", { name })}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" @click=${keep}>${gettext("Cancel")}</button>
      <button type="button" class="button danger" @click=${remove}>${gettext("Delete")}</button>
    </div>
  </div>`;
}
