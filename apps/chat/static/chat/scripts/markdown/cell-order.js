/** Sorts the cells of a column as numbers, dates or text, depending on all of them. */

const DECIMAL = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";
const DAY_FIRST = new Intl.DateTimeFormat().formatToParts(0).findIndex(({ type }) => type === "day") === 0;
const AROUND = /^(?:[$€£¥₽₹]|[A-Z]{3}(?=[\d\s+-]))?\s*|\s*(?:[$€£¥₽₹%‰]|[A-Za-zµ°Ω²³/]{1,5})?$/g;
const NUMBER = /^[+-]?\d[\d.,'’\s]*$/;
const GROUPS = /^[+-]?\d{1,3}(?:[.,]\d{2,3})+(?:[.,]\d+)?$/;
const WORDS = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * @param {string[]} cells
 * @returns {(one: number, other: number) => number} compares two of them by their index; empty ones come last
 */
export function compareCells(cells) {
  const filled = cells.filter((cell) => cell);
  for (const read of [numberOf, momentOf]) {
    if (!filled.every((cell) => read(cell) !== null)) continue;
    const values = cells.map((cell) => (cell ? (read(cell) ?? Infinity) : Infinity));
    return (one, other) => (values[one] === values[other] ? 0 : values[one] < values[other] ? -1 : 1);
  }
  return (one, other) => WORDS.compare(cells[one], cells[other]);
}

/** @param {string} cell @returns {number | null} */
export function numberOf(cell) {
  const written = latin(cell).replace(/−/g, "-").trim().replace(AROUND, "");
  if (!NUMBER.test(written)) return null;
  const plain = written.replace(/['’\s]/g, "");
  const points = plain.split(".").length - 1;
  const commas = plain.split(",").length - 1;
  // For example, the date 3.1.2026.
  if ((points > 1 || commas > 1) && !GROUPS.test(plain)) return null;
  const decimal = points && commas ? (plain.lastIndexOf(".") > plain.lastIndexOf(",") ? "." : ",") : decimalOf(plain, points, commas);
  const value = Number(decimal === "," ? plain.replaceAll(".", "").replace(",", ".") : plain.replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
}

/** `1.234` is more than a thousand in some locales, and little more than one in others. @param {string} plain @param {number} points @param {number} commas */
function decimalOf(plain, points, commas) {
  const sign = points ? "." : ",";
  const other = points ? "," : ".";
  if (points + commas > 1) return other;
  return /[.,]\d{3}$/.test(plain) && !/^[+-]?0[.,]/.test(plain) ? DECIMAL : sign;
}

/** @param {string} cell @returns {number | null} milliseconds */
export function momentOf(cell) {
  const written = latin(cell).trim();
  if (/^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(written)) return valid(Date.parse(written.replace(" ", "T")));
  const parts = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(written);
  if (parts) {
    const isDayFirst = parts[2] === "." || DAY_FIRST || Number(parts[1]) > 12;
    const [day, month] = isDayFirst ? [parts[1], parts[3]] : [parts[3], parts[1]];
    return valid(Date.UTC(Number(parts[4]), Number(month) - 1, Number(day)));
  }
  // For example, “5 January 2026” or “Jan 5, 2026”.
  return /^[A-Za-z\d., ]{6,24}$/.test(written) && /[A-Za-z]{3}/.test(written) && /\d{4}/.test(written) ? valid(Date.parse(written)) : null;
}

/** @param {number} moment */
function valid(moment) {
  return Number.isNaN(moment) ? null : moment;
}

/** Converts Arabic and Persian digits. @param {string} text */
function latin(text) {
  return text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
