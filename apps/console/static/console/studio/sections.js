// The sections of the studio, in the order of its menu.

import { access } from "./sections/access.js";
import { allFields, asText } from "./sections/whole.js";
import { behaviour } from "./sections/behaviour.js";
import { connect } from "./sections/connect.js";
import { files } from "./sections/files.js";
import { general } from "./sections/general.js";
import { instructions } from "./sections/instructions.js";
import { limits } from "./sections/limits.js";
import { model } from "./sections/model.js";
import { cases, runs, usage, versions } from "./sections/panels.js";
import { skills } from "./sections/skills.js";
import { starters } from "./sections/starters.js";
import { tools } from "./sections/tools.js";

/**
 * @import { Store } from "./store.js"
 *
 * @typedef {object} Section
 * @property {string} id
 * @property {string} title
 * @property {string[]} [paths] the parts of the draft that it edits; a finding belongs to the section with the longest path
 * @property {(container: HTMLElement, store: Store) => unknown} render may return a function that moves to a path
 */

/** @type {Section[]} */
export const SECTIONS = [
  instructions,
  model,
  tools,
  files,
  skills,
  starters,
  behaviour,
  general,
  access,
  limits,
  versions,
  cases,
  runs,
  usage,
  connect,
  allFields,
  asText,
];

/** Returns true if a path is `start` or below it. @param {string} path @param {string} start */
export const isAt = (path, start) => path === start || [".", "[", "/"].some((mark) => path.startsWith(`${start}${mark}`));

/** The section with the field of a finding; one section has all fields. @param {string} path */
export function sectionOf(path) {
  const fitting = SECTIONS.flatMap((section) => (section.paths ?? []).filter((start) => isAt(path, start)).map((start) => ({ section, start })));
  fitting.sort((a, b) => b.start.length - a.start.length);
  return fitting[0]?.section ?? allFields;
}
