/** The colors of the page for frames and workers, which do not have its styles. */

/**
 * @typedef {"paper" | "surface" | "sunken" | "ink" | "ink-soft" | "line" | "line-strong" | "accent" | "accent-soft" | "warning-soft" | "warning-line"} Token
 * @typedef {Record<Token, string> & {dark: boolean, series: string[]}} Colors
 */

/** @type {Token[]} */
const NAMES = ["paper", "surface", "sunken", "ink", "ink-soft", "line", "line-strong", "accent", "accent-soft", "warning-soft", "warning-line"];
const SERIES = ["chart-1", "chart-2", "chart-3", "chart-4", "chart-5"];

/** @param {"" | "light"} [scheme] in place of the theme of the page @returns {Colors} as the page has them now, in hexadecimal */
export function colorsOfPage(scheme = "") {
  const probe = document.createElement("i");
  probe.style.colorScheme = scheme;
  document.body.append(probe);
  const resolved = (/** @type {string} */ name) => {
    probe.style.color = `var(--${name})`;
    return hexadecimal(getComputedStyle(probe).color);
  };
  const found = Object.fromEntries(NAMES.map((name) => [name, resolved(name)]));
  const series = SERIES.map(resolved);
  probe.remove();
  return /** @type {Colors} */ ({ ...found, dark: isDark(found.paper), series });
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
