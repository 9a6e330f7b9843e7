/** Formats file sizes. */

import { gettext, locale, ngettext } from "./texts.js";

/** @type {((value: string) => string)[]} */
const UNITS = [
  (value) => gettext("{value} KB", { value }),
  (value) => gettext("{value} MB", { value }),
  (value) => gettext("{value} GB", { value }),
  (value) => gettext("{value} TB", { value }),
];

/** @param {number} bytes @returns {string} such as "840 bytes" or "1.4 MB" */
export function sizeText(bytes) {
  if (bytes < 1000) return ngettext("{count} byte", "{count} bytes", bytes);
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return UNITS[unit](value.toLocaleString(locale, { maximumFractionDigits: value < 10 ? 1 : 0 }));
}
