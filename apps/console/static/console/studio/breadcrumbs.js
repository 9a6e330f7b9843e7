// Names the places of changes and issues by their sections and fields, such as `Tools › Weather › URL`.

import { join, split } from "../manifest/paths.js";
import { labelAt, pattern } from "./labels.js";
import { allFields } from "./sections/whole.js";
import { sectionOf } from "./sections.js";
import { nameOf } from "./tools/paths.js";
import { titleOf } from "./tools/rest-tool.js";

/**
 * @import { Json, Kind } from "./data.js"
 *
 * @typedef {{manifest: Json, data: {kinds: Record<string, Kind>}}} Named the draft with the names of its tools: a `Store`
 */

const STEP = " › ";
const COLUMNS = ["title", "description", "icon"];
/** Items that have a number. @type {Record<string, string>} */
const ITEMS = {
  "contexts[]": "Context",
  "conversation_starters.starters[]": "Starter",
  "features.subagents.types[]": "Sub-agent",
  "skills[]": "Skill from DIAL",
};

/**
 * The place of a change, or "" if the studio has no field for it.
 * @param {{path: string, kind: string}} difference @param {Named} draft the changed one
 */
export function changedPlace({ path, kind }, draft) {
  const parts = split(path);
  const first = String(parts[0] ?? "");
  if (first.startsWith("skill ")) return ["Skills", first.slice("skill ".length), ...parts.slice(1)].join(STEP);
  return fieldPlace(COLUMNS.includes(path) ? `(${path})` : path, draft, kind === "removed");
}

/**
 * The place of an issue: its field, or else the field or section around it with the rest of the path.
 * @param {string} path @param {Named} draft
 */
export function issuePlace(path, draft) {
  if (path.startsWith("skills/")) return ["Skills", ...path.split("/").slice(1)].join(STEP);
  const parts = split(path);
  for (let length = parts.length; length > 0; length -= 1) {
    const rest = join(parts.slice(length));
    const place = changedPlace({ path: rest ? join(parts.slice(0, length)) : path, kind: "" }, draft);
    if (place) return [place, rest].filter(Boolean).join(STEP);
  }
  const section = sectionOf(path);
  if (section === allFields) return path || section.title;
  return section.paths?.includes(path) ? section.title : [section.title, path].join(STEP);
}

/** @param {string} path @param {Named} draft @param {boolean} [isRemoved] the index of a removed item is that of the old manifest */
function fieldPlace(path, draft, isRemoved = false) {
  const parts = split(path);
  const named = parts[0] === "tool_sets" ? toolPlace(parts, draft, isRemoved) : [itemName(parts), pattern(parts) in ITEMS ? "" : labelAt(path)];
  if (named.includes(undefined)) return "";
  const steps = [sectionOf(path).title, ...named].filter(Boolean);
  return steps.filter((one, place) => one !== steps[place - 1]).join(STEP);
}

/** The item with its number, or "". @param {(string | number)[]} parts */
function itemName(parts) {
  const index = parts.findIndex((part) => typeof part === "number");
  const name = ITEMS[pattern(parts.slice(0, index + 1))];
  return name ? `${name} ${Number(parts[index]) + 1}` : "";
}

/**
 * The name of the toolset, the name of the tool and the label of the field.
 * @param {(string | number)[]} parts @param {Named} draft @param {boolean} isRemoved
 * @returns {(string | undefined)[]}
 */
function toolPlace(parts, { manifest, data }, isRemoved) {
  const [, index, tools, number, ...rest] = parts;
  if (typeof index !== "number") return [labelAt(join(parts))];
  if (isRemoved && tools === undefined) return ["Toolset"];
  const toolset = manifest.tool_sets?.[index] ?? {};
  const label = labelAt(join(parts));
  if (tools !== "tools" || typeof number !== "number") {
    const own = data.kinds[toolset.type]?.fields.find((field) => field.path === pattern(parts.slice(2)));
    return [nameOf(toolset), own?.label || label];
  }
  return [nameOf(toolset), isRemoved && !rest.length ? "Tool" : titleOf(toolset.tools?.[number]), label];
}
