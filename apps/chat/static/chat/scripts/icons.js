/** Decorative icons from the sprite; the text next to them has the meaning. */

import { html } from "../vendor/lit.js";

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
