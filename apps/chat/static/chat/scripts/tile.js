/** The tile of an application, as decoration next to its name. */

import { html } from "../vendor/lit.js";

/** @typedef {{letters: string, tile: string | number, emoji?: string, icon?: string}} Tile shows `icon` (a URL) or `emoji` if one is set */

/** @param {Tile} application @param {string} [size] "small" or "large" */
export function tile({ letters, tile, emoji, icon }, size = "") {
  return html`<span class="monogram ${size}" data-tile=${tile} ?data-icon=${icon || emoji} aria-hidden="true"
    >${icon ? html`<img src=${icon} alt="" />` : emoji || letters}</span
  >`;
}
