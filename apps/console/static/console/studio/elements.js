// Elements of the page, and fields that are bound to a path of the document.

import { labelAt } from "./labels.js";

/**
 * @import { Field } from "../parts.js"
 * @import { Choices, Finding } from "./data.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {Node | string | false | null | undefined} Child
 *
 * @typedef {object} FieldText
 * @property {string} [label] instead of the label of its path
 * @property {string} [path] its path in the manifest
 * @property {string} [help]
 * @property {string} [findingsPath] if its findings are not at its path
 * @property {boolean} [isExact] findings below the path belong to other fields
 * @property {(typed: string) => string} [check] returns a warning about the typed text, or ""
 * @property {(found: Finding[]) => Finding[]} [shown] returns the findings that the field shows
 *
 * @typedef {FieldText & {path: string}} BoundField
 * @typedef {{rows?: number, placeholder?: string, empty?: string, list?: string, type?: string}} TextOptions
 * @typedef {{min?: number, max?: number, step?: number | "any", placeholder?: string}} NumberOptions
 * @typedef {{options: string[][], onchange?: (value: string) => void}} SelectOptions
 *
 * @typedef {object} SwitchOptions
 * @property {string} path
 * @property {string} help
 * @property {unknown} [on] the value in the document while it is on, `true` by default
 * @property {unknown} [off] the value while it is off
 * @property {(value: any) => boolean} [isOn] reads the value
 * @property {() => Node[]} [children] what is shown while it is on
 */

let count = 0;

export const newId = (stem = "studio") => `${stem}-${++count}`;

/**
 * Creates an element with properties; `class`, `data-…`, `aria-…` and other attributes by name.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {Record<string, any>} properties @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.includes("-")) Object.assign(made, { [key]: value });
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

/** Moves the focus to a new element, and selects the text of a single-line field. @param {string} selector */
export function focusOn(selector) {
  const found = document.querySelector(selector);
  if (found instanceof HTMLElement) found.focus();
  if (found instanceof HTMLInputElement) found.select();
}

/** @param {string} text @param {(event: MouseEvent) => unknown} onclick @param {Record<string, any>} properties */
export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", class: "console-button", onclick, ...properties }, text);

/** A link; external links open a new tab. @param {string} text @param {string} href @param {Record<string, any>} properties */
export const link = (text, href, properties = {}) =>
  element("a", { href, target: href.startsWith("#") ? undefined : "_blank", rel: href.startsWith("#") ? undefined : "noopener", ...properties }, text);

/** @param {Child[]} children */
export const paragraph = (...children) => element("p", {}, ...children);

/** @param {Child[]} children */
export const quiet = (...children) => element("p", { class: "studio-quiet" }, ...children);

/**
 * A field: label, control, help, its path in the manifest, and its findings.
 * @param {Store} store @param {FieldText & {control: Field}} options
 */
export function field(store, { path, help, control, findingsPath = path ?? "", label = labelAt(store, path ?? findingsPath), isExact = false, check = () => "", shown = (found) => found }) {
  const id = control.id || newId("field");
  control.id = id;
  const notes = element("div", { class: "studio-findings", id: `${id}-findings`, "aria-live": "polite" });
  const about = element("p", { class: "studio-help", id: `${id}-help` }, help ?? "");
  about.hidden = !help;
  control.setAttribute("aria-describedby", `${id}-help ${id}-findings`);
  if (findingsPath) control.dataset.path = findingsPath;
  const box = element(
    "div",
    { class: "studio-field" },
    element(
      "div",
      { class: "studio-label" },
      element("label", { htmlFor: id }, label),
      path ? element("code", { class: "studio-path", title: "Path in the manifest" }, path) : "",
    ),
    control.type === "file" ? fileInput(control) : control,
    about,
    notes,
  );
  const show = () => {
    const found = shown(findingsPath ? store.findingsAt(findingsPath, isExact) : []);
    // An error at the field itself says more than the warning about the typed text.
    const typed = found.some(({ severity, path: place }) => severity === "error" && place === findingsPath) ? "" : check(control.value);
    /** @type {Finding[]} */
    const wrong = typed ? [{ severity: "warning", path: findingsPath, message: typed }] : [];
    notes.replaceChildren(...[...wrong, ...found].map((one) => findingNote(store, one, findingsPath)));
    if (found.some(({ severity }) => severity === "error")) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  store.subscribe((what) => what === "findings" && show(), box);
  control.addEventListener("input", show);
  control.addEventListener("blur", show);
  show();
  return box;
}

/** A control for files, like those of the templates. @param {Field} control */
const fileInput = (control) =>
  element(
    "span",
    { class: "file-input" },
    control,
    element("span", { class: "file-button", "aria-hidden": "true" }, "Choose file"),
    element("span", { class: "file-name", "aria-hidden": "true" }, "No file chosen"),
  );

/**
 * A problem with a typed number; the server allows each model its own range.
 * @param {string} typed @param {NumberOptions} options
 */
function numberProblem(typed, { min = -Infinity, max = Infinity, step = "any" }) {
  const number = numberIn(typed);
  if (typeof number !== "number") return "";
  if (number < min || number > max) return max === Infinity ? `Enter ${min} or more.` : `usual values: ${min} to ${max}.`;
  const steps = step === "any" ? 0 : number / step;
  return Math.abs(steps - Math.round(steps)) > 1e-9 ? "this is between two usual values." : "";
}

/** The typed number; text that is not a number is returned unchanged, because the draft stores it. @param {string} typed */
function numberIn(typed) {
  const text = typed.trim();
  if (!text) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : typed;
}

/** @param {Store} store @param {Finding} finding @param {string} own the path of the field */
function findingNote(store, { severity, path, message }, own) {
  const word = severity === "error" ? "Error: " : "Warning: ";
  const text = path === own ? (request(message) ?? message) : `${labelAt(store, path) || path}: ${message}`;
  return element(
    "p",
    { class: `studio-finding studio-${severity}`, title: path },
    element("strong", {}, word),
    text,
  );
}

/** The request for another number; undefined for other messages of the validator. @param {string} message */
function request(message) {
  const [, wanted] = /^expected (an integer|a number|-?[\d.]+ or more), found /.exec(message) ?? [];
  return wanted && `Enter ${wanted === "an integer" ? "a whole number" : wanted}.`;
}

/**
 * The findings at a path and, unless `isExact`, below it, for parts without their own field.
 * @param {Store} store @param {string} path
 */
export function findings(store, path, isExact = false) {
  const notes = element("div", { class: "studio-findings", "aria-live": "polite" });
  const show = () => notes.replaceChildren(...store.findingsAt(path, isExact).map((one) => findingNote(store, one, path)));
  store.subscribe((what) => what === "findings" && show(), notes);
  show();
  return notes;
}

/**
 * A single-line text, or several lines with `rows`. An empty one is stored as `empty`.
 * @param {Store} store @param {BoundField & TextOptions} options
 */
export function textField(store, { path, rows, placeholder, empty, list, type, ...rest }) {
  const control = element(rows ? "textarea" : "input", {
    value: store.get(path) ?? "",
    rows,
    placeholder,
    type: rows ? undefined : (type ?? "text"),
    autocomplete: "off",
    spellcheck: Boolean(rows),
  });
  if (list) control.setAttribute("list", list);
  control.addEventListener("input", () => store.change(path, control.value === "" ? empty : control.value));
  return field(store, { path, control, ...rest });
}

/**
 * A number; an empty field removes it, so that the default applies.
 * @param {Store} store @param {BoundField & NumberOptions} options
 */
export function numberField(store, { path, min, max, step, placeholder, ...rest }) {
  const value = store.get(path);
  // A script cannot read invalid input in a number field.
  const control = element("input", { type: "text", inputMode: "decimal", autocomplete: "off", placeholder, value: value ?? "" });
  control.addEventListener("input", () => store.change(path, numberIn(control.value)));
  return field(store, { path, control, check: (typed) => numberProblem(typed, { min, max, step }), ...rest });
}

/**
 * One of `options`, each `[value, text]`; the value "" removes it from the document.
 * @param {Store} store @param {BoundField & SelectOptions} options
 */
export function selectField(store, { path, options, onchange, ...rest }) {
  const value = store.get(path) ?? "";
  const known = options.some(([one]) => one === value);
  const control = element(
    "select",
    {},
    ...(known ? options : [[value, `${value} (unknown)`], ...options]).map(([one, text]) =>
      element("option", { value: one, selected: one === value }, text),
    ),
  );
  control.addEventListener("change", () => {
    store.change(path, control.value === "" ? undefined : control.value);
    onchange?.(control.value);
  });
  return field(store, { path, control, ...rest });
}

/** A switch. @param {Store} store @param {SwitchOptions} options */
export function switchField(store, options) {
  // An undefined `on` removes the value.
  const { path, help, on, off, isOn = Boolean, children } = { on: true, ...options };
  const id = newId("switch");
  const control = element("input", {
    type: "checkbox",
    role: "switch",
    id,
    checked: isOn(store.get(path)),
    "data-path": path,
  });
  const inner = element("div", { class: "studio-inner" });
  const fill = () => inner.replaceChildren(...(control.checked && children ? children() : []));
  control.addEventListener("change", () => {
    store.change(path, structuredClone(control.checked ? on : off));
    fill();
  });
  control.setAttribute("aria-describedby", `${id}-help`);
  fill();
  return element(
    "div",
    { class: "studio-switch" },
    control,
    element(
      "div",
      {},
      element(
        "div",
        { class: "studio-label" },
        element("label", { htmlFor: id }, labelAt(store, path)),
        element("code", { class: "studio-path", title: "Path in the manifest" }, path),
      ),
      element("p", { class: "studio-help", id: `${id}-help` }, help),
      children ? inner : findings(store, path),
    ),
  );
}

/**
 * A list of texts, one per line. An empty list is stored as `empty`.
 * @param {Store} store @param {BoundField & {empty?: string[], rows?: number, placeholder?: string}} options
 */
export function linesField(store, { path, empty, rows = 3, placeholder, ...rest }) {
  const control = element("textarea", {
    rows,
    placeholder,
    value: (store.get(path) ?? []).join("\n"),
    spellcheck: false,
  });
  control.addEventListener("input", () => {
    const lines = control.value.split("\n").map((line) => line.trim()).filter(Boolean);
    store.change(path, lines.length ? lines : empty);
  });
  return field(store, { path, control, ...rest });
}

/**
 * The title of a card, with buttons next to it.
 * @param {string} title @param {Child[]} buttons
 */
export const cardHead = (title, ...buttons) => [element("legend", {}, title), element("p", { class: "studio-actions studio-card-actions" }, ...buttons)];

/**
 * A search that hides the rows whose texts do not contain all typed words.
 * @param {string} label @param {HTMLElement[]} rows
 */
export function rowSearch(label, rows) {
  const search = element("input", { type: "search", placeholder: label, "aria-label": label, autocomplete: "off" });
  const texts = rows.map((row) => (row.textContent ?? "").toLowerCase());
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
    });
  });
  return search;
}

/** @param {string} title @param {Child[]} children */
export const group = (title, ...children) =>
  element("section", { class: "studio-group" }, title ? element("h3", {}, title) : "", ...children);

/**
 * A section that needs the available choices: `parts(store, choices, redraw)` returns its elements.
 * @param {(store: Store, choices: Choices, redraw: () => void) => (Node | "")[]} parts
 */
export const withChoices = (parts) =>
  /** @param {HTMLElement} container @param {Store} store */
  async function render(container, store) {
    const choices = await store.choices();
    if (!container.isConnected) return;
    const redraw = () => container.replaceChildren(...parts(store, choices, redraw).filter((one) => one !== ""));
    redraw();
  };
