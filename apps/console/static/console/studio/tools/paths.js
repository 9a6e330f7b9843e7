// Paths of toolsets and tools in the manifest, names for new ones, and their findings.

import { join } from "../../manifest/paths.js";
import { element } from "../elements.js";

/**
 * @import { Finding, Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

/** @param {(string | number)[]} parts */
export const at = (...parts) => join(["tool_sets", ...parts]);

export const FUNCTION = ["open_ai_tool", "function"];

/** @param {number} count @param {string} one */
export const plural = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

/** @param {Json} toolset @returns {string} */
export const nameOf = ({ name, template_name: template, type }) => {
  const text = typeof name === "object" && name ? (name.en ?? Object.values(name)[0]) : name;
  return text || template || type || "Toolset";
};

/** Returns an unused name: `weather`, or `weather_2` if that is taken. @param {string} wanted @param {string[]} taken */
export function freeName(wanted, taken, joint = "_") {
  if (!taken.includes(wanted)) return wanted;
  let number = 2;
  while (taken.includes(`${wanted}${joint}${number}`)) number += 1;
  return `${wanted}${joint}${number}`;
}

/** @param {string} text */
export const plainName = (text) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 24) || "service";

/**
 * Appends toolsets, each under a unique name. Returns the first path.
 * @param {Store} store @param {Json[]} added
 */
export function addToolsets(store, ...added) {
  /** @type {Json[]} */
  const all = store.get("tool_sets") ?? [];
  const taken = all.map(nameOf);
  for (const one of added) {
    if (typeof one.name === "string") one.name = freeName(one.name, taken);
    taken.push(nameOf(one));
  }
  store.change("tool_sets", [...all, ...added]);
  return all.length;
}

/**
 * A mark such as "(1 mistake)", kept up to date, for the findings of a part that may be collapsed.
 * @param {Store} store @param {Node} owner @param {() => Finding[]} found
 */
export function countedFindings(store, owner, found) {
  const mark = element("span");
  const count = () => {
    const inside = found();
    const mistakes = inside.filter(({ severity }) => severity === "error").length;
    const notes = mistakes ? plural(mistakes, "error") : inside.length ? plural(inside.length, "warning") : "";
    mark.textContent = notes && `(${notes})`;
    mark.className = mistakes ? "studio-error" : "studio-warning";
  };
  store.subscribe((what) => what === "findings" && count(), owner);
  count();
  return mark;
}
