/** Parses comma-separated values: quotes, and the separators of other locales. */

const SEPARATORS = [",", ";", "\t", "|"];

/**
 * @param {string} text
 * @param {number} most rows that are wanted
 * @returns {string[][]} rows of cells
 */
export function rowsOf(text, most) {
  const separator = separatorOf(text);
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length && rows.length < most) {
    const { cell, end } = cellAt(text, at, separator);
    row.push(cell);
    at = end;
    if (text[at] === separator) {
      at += 1;
      if (at < text.length) continue;
      row.push("");
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** @param {string} text @param {number} at the start of a cell @param {string} separator */
function cellAt(text, at, separator) {
  if (text[at] !== '"') return plainCellAt(text, at, separator);
  let cell = "";
  let from = at + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { cell: cell + text.slice(from), end: text.length };
    cell += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const rest = plainCellAt(text, quote + 1, separator);
      return { cell: cell + rest.cell, end: rest.end };
    }
    cell += '"';
    from = quote + 2;
  }
}

/** @param {string} text @param {number} at @param {string} separator */
function plainCellAt(text, at, separator) {
  let end = at;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { cell: text.slice(at, end), end };
}

/** @param {string} text @returns {string} the most frequent separator of its first line */
function separatorOf(text) {
  const [first] = text.split(/\r?\n/, 1);
  const counts = SEPARATORS.map((separator) => first.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}
