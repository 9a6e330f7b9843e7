/** Sizes of files as a person reads them. */

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

/** @param {number} bytes @returns {string} such as "840 bytes" or "1.4 MB" */
export function sizeText(bytes) {
  if (bytes === 1) return "1 byte";
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toLocaleString([], { maximumFractionDigits: digits })} ${UNITS[unit]}`;
}
