/** Sorts conversations into sections of the sidebar: pinned, folders, days and months. */

import { gettext, locale } from "../texts.js";

/**
 * @import { Folder, Row } from "./rows.js"
 * @typedef {{key: string, heading: string, rows: Row[], folder?: Folder}} Section
 */

const DAY = 24 * 60 * 60 * 1000;

/**
 * @param {Row[]} rows the newest first @param {Folder[]} folders
 * @param {Section[]} before the previous sections, whose arrays are reused if they have not changed
 * @returns {Section[]}
 */
export function sectionsOf(rows, folders, before) {
  const known = new Set(folders.map(({ id }) => id));
  /** @type {Map<string, Section>} */
  const found = new Map([["pinned", { key: "pinned", heading: gettext("Pinned"), rows: [] }]]);
  for (const folder of folders) {
    const key = `folder ${folder.id}`;
    found.set(key, { key, heading: folder.name, rows: [], folder });
  }
  const today = new Date().setHours(0, 0, 0, 0);
  for (const row of rows) {
    const inFolder = row.folder !== null && known.has(row.folder);
    const key = row.pinned ? "pinned" : inFolder ? `folder ${row.folder}` : "";
    const section = key ? found.get(key) : dated(found, row, today);
    section?.rows.push(row);
  }
  return [...found.values()]
    .filter((section) => section.folder || section.rows.length)
    .map((section) => ({ ...section, rows: sameRows(section, before) }));
}

/** @param {Map<string, Section>} found @param {Row} row @param {number} today its beginning @returns {Section} */
function dated(found, { updated_at }, today) {
  const heading = headingOf(new Date(updated_at), today);
  const section = found.get(heading) ?? { key: heading, heading, rows: [] };
  found.set(heading, section);
  return section;
}

/** @param {Date} moment @param {number} today */
function headingOf(moment, today) {
  if (moment.getTime() >= today) return gettext("Today");
  if (moment.getTime() >= today - DAY) return gettext("Yesterday");
  if (moment.getTime() >= today - 7 * DAY) return gettext("Previous 7 days");
  const isThisYear = moment.getFullYear() === new Date(today).getFullYear();
  return moment.toLocaleDateString(locale, { month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
}

/** @param {Section} section @param {Section[]} before */
function sameRows({ key, rows }, before) {
  const old = before.find((one) => one.key === key)?.rows;
  return old?.length === rows.length && rows.every((row, place) => row === old[place]) ? old : rows;
}
