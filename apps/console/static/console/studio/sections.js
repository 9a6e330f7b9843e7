// The sections of the studio, in the order of its menu.

import { access } from "./sections/access.js";
import { allFields, asText } from "./sections/whole.js";
import { behaviour } from "./sections/behaviour.js";
import { connect } from "./sections/connect.js";
import { files } from "./sections/files.js";
import { instructions } from "./sections/instructions.js";
import { limits } from "./sections/limits.js";
import { model } from "./sections/model.js";
import { cases, runs, usage, versions } from "./sections/elsewhere.js";
import { skills } from "./sections/skills.js";
import { starters } from "./sections/starters.js";
import { tools } from "./sections/tools.js";

/**
 * @import { Store } from "./store.js"
 *
 * @typedef {object} Section
 * @property {string} id
 * @property {string} title
 * @property {string[]} [paths] the parts of the manifest that it shows, whose findings the menu counts
 * @property {(container: HTMLElement, store: Store) => unknown} render
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
