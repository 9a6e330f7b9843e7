/** The colors of the page for frames and workers, which do not have its styles. */

/**
 * @typedef {"paper" | "surface" | "sunken" | "ink" | "ink-soft" | "line" | "line-strong" | "accent" | "accent-soft" | "warning-soft" | "warning-line"} Token
 * @typedef {Record<Token, string> & {dark: boolean, series: string[]}} Colors
 */

export const forcedColors = matchMedia("(forced-colors: active)");

/** @type {Token[]} */
const NAMES = ["paper", "surface", "sunken", "ink", "ink-soft", "line", "line-strong", "accent", "accent-soft", "warning-soft", "warning-line"];
/** @type {Token[]} that have the color of the canvas in forced colors; the others have the color of its text */
const GROUNDS = ["paper", "surface", "sunken", "accent-soft", "warning-soft"];
const SERIES = ["chart-1", "chart-2", "chart-3", "chart-4", "chart-5"];

/** @param {"" | "light"} [scheme] in place of the theme of the page @returns {Colors} as the page has them now, in hexadecimal */
export function colorsOfPage(scheme = "") {
  const probe = document.createElement("i");
  probe.style.colorScheme = scheme;
  probe.style.setProperty("forced-color-adjust", "none"); // otherwise, all colors are the same
  document.body.append(probe);
  const resolved = (/** @type {string} */ color) => {
    probe.style.color = color;
    return hexadecimal(getComputedStyle(probe).color);
  };
  const isForced = !scheme && forcedColors.matches;
  const colorOf = (/** @type {Token} */ name) => (isForced ? (GROUNDS.includes(name) ? "Canvas" : "CanvasText") : `var(--${name})`);
  const found = Object.fromEntries(NAMES.map((name) => [name, resolved(colorOf(name))]));
  const dark = isDark(found.paper);
  if (isForced) probe.style.colorScheme = dark ? "dark" : "light";
  const series = SERIES.map((name) => resolved(`var(--${name})`));
  probe.remove();
  return /** @type {Colors} */ ({ ...found, dark, series });
}

/** Converts a color for Mermaid, which calculates with colors and supports fewer notations than browsers. @param {string} color `rgb(…)` */
function hexadecimal(color) {
  const parts = color.match(/\d+/g) ?? [];
  return `#${parts.slice(0, 3).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
}

/** @param {string} color */
function isDark(color) {
  return Number.parseInt(color.slice(1, 3), 16) < 128;
}
