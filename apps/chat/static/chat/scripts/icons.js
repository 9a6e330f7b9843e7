/** Decorative icons from the sprite, and tiles of applications; the text next to them has the meaning. */

import { html } from "../vendor/lit.js";

/** @typedef {{letters: string, tile: string | number, emoji?: string, icon?: string}} Tile shows `icon` (a URL) or `emoji` if one is set */

const sprite = new URL("../vendor/icons.svg", import.meta.url).href;

/** @param {string} name of a symbol in the sprite */
export function icon(name) {
  return html`<svg class="icon" aria-hidden="true"><use href="${sprite}#${name}"></use></svg>`;
}

/** @param {string} name @returns {SVGSVGElement} the same for code that builds elements */
export function iconElement(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.classList.add("icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}

/** @param {Tile} application @param {string} [size] "small" or "large" */
export function tile({ letters, tile, emoji, icon }, size = "") {
  return html`<span class="monogram ${size}" data-tile=${tile} ?data-icon=${icon || emoji} aria-hidden="true"
    >${icon ? html`<img src=${icon} alt="" />` : emoji || letters}</span
  >`;
}
