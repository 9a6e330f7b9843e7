// The parameters of a REST tool as a table: each row can be changed, hidden and removed.

import { button, element, findings, quiet } from "../elements.js";
import { join } from "../../manifest/paths.js";
import { labelAt } from "../labels.js";
import { freeName, plural } from "./paths.js";

/**
 * @import { Json } from "../data.js"
 * @import { Child } from "../elements.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {Json & {type?: string | null, description?: string, parameter_info?: {key?: string, type?: string}}} Parameter without a type, it is a constant
 *
 * @typedef {(label: string, value: string, onchange: Changed<HTMLInputElement>) => Node} Input
 */

/**
 * @template {HTMLElement} C
 * @typedef {(event: {target: C}) => void} Changed
 */

const PLACES = [["query", "Query"], ["url", "URL"], ["body", "Body"], ["header", "Header"]];
const TYPES = ["string", "integer", "number", "boolean", "array", "object"];
/** @type {Record<string, Json>} */
const EMPTY = {
  array: { items: { type: "string" }, description: "A list." },
  object: { properties: {}, description: "An object." },
};

/**
 * `parts` is the path to the parameters of the function.
 * @param {Store} store @param {(string | number)[]} parts @param {string} toolName
 */
export function parameterTable(store, parts, toolName) {
  const box = element("div", { class: "studio-inner" });
  /** @returns {Record<string, Parameter>} */
  const properties = () => store.get(join([...parts, "properties"])) ?? {};
  /** @returns {string[]} */
  const required = () => store.get(join([...parts, "required"])) ?? [];
  /** @param {string[]} rest */
  const label = (...rest) => labelAt(store, join([...parts, ...rest])) ?? "";
  const labels = {
    key: label("properties", "*", "parameter_info", "key"),
    type: label("properties", "*", "type"),
    location: label("properties", "*", "parameter_info", "type"),
    required: label("required"),
    value: label("properties", "*", "default"),
    description: label("properties", "*", "description"),
  };
  /** @param {number} [focus] the row */
  const draw = (focus) => {
    const names = Object.keys(properties());
    const heads = ["Name", labels.key, labels.type, labels.location, labels.required, "Set by the model", labels.value, labels.description, ""];
    const table = element(
      "table",
      { class: "console-table console-stacked studio-parameters" },
      element("caption", { class: "console-hidden" }, `Parameters of ${toolName}`),
      element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text || element("span", { class: "console-hidden" }, "Actions"))))),
      element("tbody", {}, ...names.map(row)),
    );
    box.replaceChildren(
      element("h4", {}, plural(names.length, "parameter")),
      names.length ? element("div", { class: "console-scroll" }, table) : quiet("No parameters."),
      element("p", {}, button("Add a parameter", add)),
      findings(store, join([...parts, "required"])),
    );
    if (focus !== undefined) box.querySelectorAll("tbody tr")[focus]?.querySelector("input")?.focus();
  };
  /** @param {Record<string, Parameter>} found */
  const set = (found, needed = required()) => {
    store.change(join([...parts, "properties"]), found);
    store.change(join([...parts, "required"]), needed.length ? needed : undefined);
  };
  /** @param {string} name @param {Json} values */
  const change = (name, values) => {
    const found = { ...properties()[name], ...values };
    for (const [key, value] of Object.entries(found)) if (value === undefined) delete found[key];
    store.change(join([...parts, "properties", name]), found);
  };
  function add() {
    const name = freeName("parameter", Object.keys(properties()));
    const made = { type: "string", description: "", parameter_info: { type: "query", key: name } };
    set({ ...properties(), [name]: made });
    draw(Object.keys(properties()).length - 1);
  }
  /** @param {string} name @param {string} next @param {HTMLInputElement} input */
  function rename(name, next, input) {
    if (!next || next === name) return;
    if (next in properties()) {
      input.setCustomValidity(`The parameter ${next} already exists.`);
      input.reportValidity();
      return;
    }
    const entries = Object.entries(properties()).map(([key, value]) => [key === name ? next : key, value]);
    set(Object.fromEntries(entries), required().map((key) => (key === name ? next : key)));
    draw(entries.findIndex(([key]) => key === next));
  }
  /** @param {string} name */
  function remove(name) {
    const left = { ...properties() };
    delete left[name];
    set(left, required().filter((key) => key !== name));
    draw(0);
  }
  /** @param {string} name @param {boolean} isNeeded */
  function need(name, isNeeded) {
    const others = required().filter((key) => key !== name);
    set(properties(), isNeeded ? [...others, name] : others);
  }
  /** @param {string} name @param {boolean} isShown */
  function show(name, isShown) {
    const { type, const: constant, default: value, enum: choices, items, properties: inner, required: needed, ...rest } = properties()[name];
    const made = isShown
      ? { ...rest, type: typeOf(constant), ...EMPTY[typeOf(constant)], ...(constant === "" ? {} : { default: constant }) }
      : { ...rest, type: null, const: value ?? "" };
    if (!isShown) delete made.description;
    store.change(join([...parts, "properties", name]), made);
    if (!isShown) need(name, false);
    draw(Object.keys(properties()).indexOf(name));
  }
  /** @param {string} name */
  function row(name) {
    const one = properties()[name];
    const isConstant = one.type === null;
    const info = one.parameter_info ?? {};
    /** @param {string} label @param {Child[]} children */
    const cell = (label, ...children) => element("td", { "data-label": label }, ...children);
    /** @param {string} label */
    const named = (label) => ({ "aria-label": `${label} of ${name}` });
    /** @param {string} label @param {string} value @param {Changed<HTMLInputElement>} onchange @param {Json} more */
    const input = (label, value, onchange, more = {}) =>
      element("input", { type: "text", autocomplete: "off", spellcheck: false, value, onchange, ...named(label), ...more });
    /**
     * @param {string} label @param {string[][]} options @param {string | undefined} value @param {Changed<HTMLSelectElement>} onchange
     */
    const select = (label, options, value, onchange) =>
      element("select", { ...named(label), onchange }, ...options.map(([key, text]) => element("option", { value: key, selected: key === value }, text)));
    /** @param {string} label @param {boolean} checked @param {Changed<HTMLInputElement>} onchange @param {Json} more */
    const box = (label, checked, onchange, more = {}) => element("input", { type: "checkbox", checked, onchange, ...named(label), ...more });
    /** @param {Json} values */
    const place = (values) => change(name, { parameter_info: { ...properties()[name].parameter_info, ...values } });
    const kinds = (isConstant ? ["constant"] : TYPES).map((type) => [type, type.charAt(0).toUpperCase() + type.slice(1)]);
    const path = join([...parts, "properties", name]);
    return element(
      "tr",
      {},
      element("th", { scope: "row", "data-label": "Name" }, input("Name", name, ({ target }) => rename(name, target.value.trim(), target)), findings(store, path)),
      cell(labels.key, input("Name at the service", info.key ?? "", ({ target }) => place({ key: target.value }))),
      cell(labels.type, select(labels.type, kinds, one.type ?? "constant", ({ target }) => retype(name, target.value))),
      cell(labels.location, select(labels.location, PLACES, info.type, ({ target }) => place({ type: target.value }))),
      cell(labels.required, box(labels.required, required().includes(name), ({ target }) => need(name, target.checked), { disabled: isConstant })),
      cell("Set by the model", box("Set by the model", !isConstant, ({ target }) => show(name, target.checked))),
      cell(labels.value, value(name, one, isConstant, input)),
      cell(labels.description, element("textarea", { rows: 2, value: one.description ?? "", disabled: isConstant, onchange: (/** @type {{target: HTMLTextAreaElement}} */ { target }) => change(name, { description: target.value }), ...named(labels.description) })),
      cell("", button("Remove", () => remove(name), { "aria-label": `Remove ${name}` })),
    );
  }
  /** @param {string} name @param {string} type */
  function retype(name, type) {
    const { items, properties: inner, required: needed, enum: choices, default: value, ...rest } = properties()[name];
    store.change(join([...parts, "properties", name]), { ...EMPTY[type], ...rest, type });
    draw(Object.keys(properties()).indexOf(name));
  }
  /** @param {string} name @param {Parameter} one @param {boolean} isConstant @param {Input} input */
  function value(name, one, isConstant, input) {
    const key = isConstant ? "const" : "default";
    const shown = one[key];
    if (shown?.$secret) return element("code", {}, `secret ${shown.$secret}`);
    if (shown?.$hidden !== undefined) return element("em", {}, "a stored credential");
    const text = shown === undefined || shown === null ? "" : typeof shown === "string" ? shown : JSON.stringify(shown);
    const label = isConstant ? "Constant" : "Default";
    return input(label, text, ({ target }) => {
      const read = readAs(target.value, isConstant ? undefined : one.type);
      target.setCustomValidity(read.problem ?? "");
      if (read.problem) target.reportValidity();
      else change(name, { [key]: isConstant ? (read.value ?? "") : read.value });
    });
  }
  draw();
  return box;
}

/**
 * Converts typed text to a value of the type; a constant is JSON if it is valid JSON, else text.
 * @param {string} text @param {string | null | undefined} type @returns {{value?: unknown, problem?: string}}
 */
function readAs(text, type) {
  if (type === "string") return { value: text || undefined };
  if (!text.trim()) return { value: undefined };
  try {
    const value = JSON.parse(text);
    if (type && !fits(value, type)) return { problem: `This is not a valid ${type}.` };
    return { value };
  } catch {
    return type ? { problem: `This is not a valid ${type}.` } : { value: text };
  }
}

/** @param {unknown} value */
const typeOf = (value) => (Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : value === null ? "string" : typeof value);

/** @param {unknown} value @param {string} type */
const fits = (value, type) => typeOf(value) === type || (type === "number" && typeof value === "number");
