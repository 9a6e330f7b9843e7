/** The tile of an application, wherever a script draws one: decoration beside its name. */

import { html } from "../vendor/lit.js";

/** @typedef {{letters: string, tile: string | number}} Tile */

/** @param {Tile} application @param {string} [size] "small" or "large" */
export function tile({ letters, tile }, size = "") {
  return html`<span class="monogram ${size}" data-tile=${tile} aria-hidden="true">${letters}</span>`;
}
