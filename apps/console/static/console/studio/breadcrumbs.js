// Names the places of changes and issues by their sections and fields, such as `Tools › Weather › URL`.

import { join, split } from "../manifest/paths.js";
import { labelAt, pattern } from "./labels.js";
import { allFields } from "./sections/whole.js";
import { sectionOf } from "./sections.js";
import { nameOf, plural } from "./tools/paths.js";
import { titleOf } from "./tools/rest-tool.js";

/**
 * @import { Json, Kind } from "./data.js"
 *
 * @typedef {{manifest: Json, data: {kinds: Record<string, Kind>}}} Named the draft with the names of its tools: a `Store`
 */

/** The texts that describe an item of a list. */
const TEXTS = ["name", "title", "text", "description", "url", "content"];
const LONGEST_TEXT = 200;
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
 * @param {{path: string, kind: string, before?: string}} difference @param {Named} draft the changed one
 */
export function changedPlace({ path, kind, before = "" }, draft) {
  const parts = split(path);
  const first = String(parts[0] ?? "");
  if (first.startsWith("skill ")) return ["Skills", first.slice("skill ".length), ...parts.slice(1)].join(STEP);
  return fieldPlace(COLUMNS.includes(path) ? `(${path})` : path, draft, kind === "removed" ? (itemIn(before) ?? {}) : undefined);
}

/**
 * An added or removed item of a list in words, such as `REST service · 2 tools`, or "" if the change is another one.
 * @param {{path: string, kind: string, before: string, after: string}} difference @param {Pick<Named, "data">} draft
 */
export function changedItem({ path, kind, before, after }, { data }) {
  const parts = split(path);
  const item = typeof parts.at(-1) === "number" && (kind === "added" || kind === "removed") ? itemIn(kind === "added" ? after : before) : undefined;
  if (!item) return "";
  if (pattern(parts) === "tool_sets[]") return [data.kinds[item.type]?.title || item.type, item.tools && plural(item.tools.length, "tool")].filter(Boolean).join(" · ");
  const isTool = pattern(parts) === "tool_sets[].tools[]";
  const texts = isTool ? [item.open_ai_tool?.function?.description || titleOf(item)] : TEXTS.map((name) => item[name]);
  const text = texts.filter((one) => typeof one === "string" && one).join(" · ");
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

/** An object in JSON, or undefined if the text is cut or another value. @param {string} text @returns {Json | undefined} */
function itemIn(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
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

/** @param {string} path @param {Named} draft @param {Json} [removed] the removed value; its index is that of the old manifest */
function fieldPlace(path, draft, removed) {
  const parts = split(path);
  const named = parts[0] === "tool_sets" ? toolPlace(parts, draft, removed) : [itemName(parts), pattern(parts) in ITEMS ? "" : labelAt(path)];
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
 * @param {(string | number)[]} parts @param {Named} draft @param {Json} [removed]
 * @returns {(string | undefined)[]}
 */
function toolPlace(parts, { manifest, data }, removed) {
  const [, index, tools, number, ...rest] = parts;
  if (typeof index !== "number") return [labelAt(join(parts))];
  if (removed && tools === undefined) return [nameOf(removed)];
  const toolset = manifest.tool_sets?.[index] ?? {};
  const label = labelAt(join(parts));
  if (tools !== "tools" || typeof number !== "number") {
    const own = data.kinds[toolset.type]?.fields.find((field) => field.path === pattern(parts.slice(2)));
    return [nameOf(toolset), own?.label || label];
  }
  return [nameOf(toolset), removed && !rest.length ? titleOf(removed) : titleOf(toolset.tools?.[number]), label];
}
