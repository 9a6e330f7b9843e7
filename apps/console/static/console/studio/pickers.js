// Fields for named things of the installation, such as servers, secrets and prompts: lists with a search.

import { offerChoices } from "../../chat/scripts/choice-fields.js";
import { element, field, findings, link, newId } from "./elements.js";
import { labelAt } from "./labels.js";

/**
 * @import { Choices } from "./data.js"
 * @import { FieldText } from "./elements.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {[value: string, title: string, detail?: string]} Choice
 *
 * @typedef {object} Picking
 * @property {() => Choice[]} choices is called again when the available choices have changed
 * @property {string} [value] instead of the value at the path
 * @property {string} [empty] the text of no choice
 * @property {string} [none] is shown instead of the list while there are no choices
 * @property {string} [unknown] the note on a value that is not one of the choices
 * @property {[text: string, url: string] | "" | undefined} [add] the form for a new one, if the user may add one
 * @property {(value: string) => unknown} [onchange] instead of changing the value at the path, if there is a `value`
 */

/**
 * A field for a named thing. Without a `value`, it changes the value at its path.
 * @param {Store} store @param {FieldText & Picking} options
 */
export function pickerField(store, { choices, value, empty, none = "", unknown = "unknown", add, onchange, ...rest }) {
  const { path } = rest;
  const isBound = path !== undefined && value === undefined;
  const control = element("select", {});
  const box = field(store, { control, ...rest });
  let chosen = value ?? (isBound ? (store.get(path) ?? "") : "");
  const fill = () => {
    const offered = choices();
    const isKnown = !chosen || offered.some(([one]) => one === chosen);
    const options = [...(empty === undefined ? [] : [["", empty]]), ...(isKnown ? [] : [[chosen, chosen, unknown]]), ...offered];
    control.replaceChildren(...options.map(([one, text, detail]) => element("option", { value: one, selected: one === chosen, "data-detail": detail }, text)));
    list.hidden = Boolean(none) && !offered.length && !chosen;
    missing.hidden = !list.hidden;
  };
  const missing = element("p", { class: "studio-quiet" }, none);
  const list = offerChoices(control, box.querySelector("label"));
  // The list gets the focus instead of the hidden select.
  if (control.dataset.path) list.dataset.path = control.dataset.path;
  delete control.dataset.path;
  list.after(missing);
  if (add) box.append(element("p", { class: "studio-quiet" }, link(...add)));
  fill();
  control.addEventListener("change", () => {
    chosen = control.value;
    if (isBound) store.change(path, chosen === "" ? undefined : chosen);
    onchange?.(chosen);
  });
  store.subscribe((what) => what === "choices" && fill(), box);
  return box;
}

/**
 * Several of the names that exist, as checkboxes. A selected name that no longer exists stays until it is deselected.
 * @param {Store} store
 * @param {object} options
 * @param {string} options.path of a list of names
 * @param {() => string[]} options.names is called again after each change of the draft
 * @param {string} options.help
 * @param {string} options.none is shown instead of an empty list
 * @param {string} [options.label] instead of the label of its path
 * @param {string[]} [options.empty] is stored if nothing is selected
 */
export function ticksField(store, { path, names, help, none, label = labelAt(store, path), empty }) {
  /** @returns {string[]} */
  const chosen = () => store.get(path) ?? [];
  const id = newId("ticks");
  const list = element("ul", { class: "studio-ticks" });
  let shown = "";
  const fill = () => {
    const known = names();
    const all = [...known, ...chosen().filter((name) => !known.includes(name))];
    if (shown === JSON.stringify([known, all])) return;
    shown = JSON.stringify([known, all]);
    const rows = all.map((name) => {
      const input = element("input", { type: "checkbox", id: newId("tick"), value: name, checked: chosen().includes(name), "data-path": path });
      const isKnown = known.includes(name);
      return element("li", {}, input, element("label", { htmlFor: input.id }, name, !isKnown && element("span", { class: "studio-quiet" }, " unknown")));
    });
    list.replaceChildren(...rows);
    list.hidden = !all.length;
    missing.hidden = !list.hidden;
  };
  const missing = element("p", { class: "studio-quiet" }, none);
  list.addEventListener("change", ({ target }) => {
    const { value, checked } = /** @type {HTMLInputElement} */ (target);
    const left = chosen().filter((name) => name !== value);
    const names = checked ? [...left, value] : left;
    store.change(path, names.length ? names : empty);
  });
  fill();
  const box = element(
    "div",
    { class: "studio-field", role: "group", "aria-labelledby": id, "aria-describedby": `${id}-help` },
    element("div", { class: "studio-label" }, element("strong", { id }, label), element("code", { class: "studio-path", title: "Path in the manifest" }, path)),
    list,
    missing,
    element("p", { class: "studio-help", id: `${id}-help` }, help),
    findings(store, path),
  );
  store.subscribe((what) => ["settled", "choices"].includes(what) && fill(), box);
  return box;
}

/** @param {Choices} choices @param {string} [kind] only deployments of this kind @returns {Choice[]} */
export const deploymentChoices = ({ deployments }, kind) =>
  deployments.filter((one) => !kind || one.kind === kind).map(({ id, name }) => [id, name, id === name ? "" : id]);

/** Everything that can be called like a model. @param {Choices} choices @returns {Choice[]} */
export const callableChoices = (choices) => [
  ...choices.applications.map(({ id, name }) => /** @type {Choice} */ ([id, name, "Application"])),
  ...deploymentChoices(choices).map(([id, name]) => /** @type {Choice} */ ([id, name, "Model"])),
];
