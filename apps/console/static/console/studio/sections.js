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

/** The title of a section, and the parts of the draft that it edits. @param {Store} store @param {Section} section */
export const aboutSection = (store, { id }) => store.data.labels.sections[id];

/**
 * The section with the field of a finding: the one with the longest path. One section has all fields.
 * @param {Store} store @param {string} path
 */
export function sectionOf(store, path) {
  const fitting = SECTIONS.flatMap((section) => (aboutSection(store, section).paths ?? []).filter((start) => isAt(path, start)).map((start) => ({ section, start })));
  fitting.sort((a, b) => b.start.length - a.start.length);
  return fitting[0]?.section ?? allFields;
}
