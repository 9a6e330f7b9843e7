/** The actions of a table: sort it by a column, and copy it. */

import { copy } from "../clipboard.js";
import { iconElement } from "../icons.js";
import { compareCells } from "./cell-order.js";
import { gettext } from "../texts.js";

const COPIED_FOR = 2_000;

/** The table scrolls in its own box. @param {HTMLTableElement} table */
export function frameTable(table) {
  if (table.parentElement?.classList.contains("table")) return;
  const frame = document.createElement("div");
  frame.className = "table";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  const columns = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent?.trim()).filter(Boolean);
  const words = columns.length ? gettext("Table: {columns}", { columns: columns.join(", ") }) : gettext("Table");
  frame.setAttribute("aria-label", words.length > 200 ? `${words.slice(0, 199)}…` : words);
  table.replaceWith(frame);
  frame.append(table);
}

/** @param {ParentNode} root whose tables are complete */
export function dressTables(root) {
  for (const frame of root.querySelectorAll(".table")) {
    const table = frame.querySelector("table");
    if (!table?.tHead || !table.tBodies.length) continue;
    if (table.tBodies[0].rows.length > 1) for (const cell of table.tHead.rows[0]?.cells ?? []) letSort(cell);
    const box = document.createElement("div");
    box.className = "table-box";
    frame.replaceWith(box);
    box.append(frame, copyButton());
  }
}

/** @param {HTMLTableCellElement} cell of the head */
function letSort(cell) {
  if (cell.querySelector("a, button") || !cell.textContent?.trim()) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "table-sort";
  button.append(...cell.childNodes, iconElement("arrow-up-down"));
  cell.append(button);
}

function copyButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "table-copy";
  const words = document.createElement("span");
  words.textContent = gettext("Copy as CSV");
  words.setAttribute("aria-live", "polite");
  button.append(iconElement("copy"), words);
  return button;
}

/** @param {Event} event a click somewhere in rendered Markdown */
export function useTable(event) {
  const button = event.target instanceof Element ? event.target.closest(".table-sort, .table-copy") : null;
  if (!button) return;
  const head = button.closest("th");
  if (head) sort(head);
  else void copyTable(button);
}

/** Ascending, descending, and the original order. @param {HTMLTableCellElement} head */
function sort(head) {
  const table = head.closest("table");
  const body = table?.tBodies[0];
  if (!table || !body) return;
  const before = head.getAttribute("aria-sort");
  const order = before === "ascending" ? "descending" : before === "descending" ? "" : "ascending";
  for (const other of table.tHead?.rows[0]?.cells ?? []) other.removeAttribute("aria-sort");
  if (order) head.setAttribute("aria-sort", order);
  const rows = /** @type {HTMLTableRowElement[]} */ ([...body.rows]);
  for (const [index, row] of rows.entries()) row.dataset.written ??= String(index);
  rows.sort((one, other) => Number(one.dataset.written) - Number(other.dataset.written));
  if (order) {
    const column = head.cellIndex;
    const compare = compareCells(rows.map((row) => textOf(row.cells[column])));
    const sign = order === "ascending" ? 1 : -1;
    const places = rows.map((row, index) => ({ row, index }));
    places.sort((one, other) => sign * compare(one.index, other.index));
    rows.splice(0, rows.length, ...places.map(({ row }) => row));
  }
  body.append(...rows);
  const name = order === "descending" ? "arrow-down" : order ? "arrow-up" : "arrow-up-down";
  for (const cell of table.tHead?.rows[0]?.cells ?? []) {
    cell.querySelector(".table-sort > .icon")?.replaceWith(iconElement(cell === head ? name : "arrow-up-down"));
  }
}

/** @param {Element} button */
async function copyTable(button) {
  const table = button.closest(".table-box")?.querySelector("table");
  const words = button.querySelector("span");
  if (!table || !words) return;
  const lines = [...table.rows].map((row) => [...row.cells].map((cell) => quoted(textOf(cell))).join(","));
  words.textContent = (await copy(lines.join("\r\n"))) ? gettext("Copied") : gettext("Not copied");
  setTimeout(() => (words.textContent = gettext("Copy as CSV")), COPIED_FOR);
}

/** @param {Element | undefined} cell */
function textOf(cell) {
  return cell?.textContent?.trim() ?? "";
}

/** A spreadsheet must not interpret the model's text as a formula. @param {string} text */
function quoted(text) {
  const safe = /^[=+@-]/.test(text) && !/^[+-]?[\d.,\s]+%?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
