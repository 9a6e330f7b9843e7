/** The arguments of a call as a form: fields for editable arguments, text for the others. */

import { html, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{type?: string | string[], enum?: unknown[], description?: string, maxLength?: number}} Schema
 * @typedef {Record<string, unknown>} Values
 */

/** The length from which a value gets several lines. */
const LONG = 60;
/** The length up to which a text without lines never scrolls. */
const MOST = 400;

/**
 * @param {Values} values
 * @param {Record<string, Schema>} editable
 * @param {string} prefix of the ids of fields
 * @param {Record<string, string>} [labels] by name
 */
export function argumentFields(values, editable, prefix, labels = {}) {
  const names = [...new Set([...Object.keys(values), ...Object.keys(editable)])];
  if (!names.length) return nothing;
  return html`<div class="arguments">
    ${names.map((name, index) => {
      const label = labels[name] ?? name;
      return Object.hasOwn(editable, name)
        ? field(name, label, values[name], editable[name], `${prefix}-${index}`)
        : html`<div class="argument">
            <span class="argument-name" dir="auto">${label}</span>
            ${shown(label, values[name])}
          </div>`;
    })}
  </div>`;
}

/**
 * The arguments that were changed in a form. Marks fields whose values have the wrong type.
 * @param {HTMLFormElement} form
 * @param {Values} values
 * @param {Record<string, Schema>} editable
 * @returns {Values | null} null while a field has to be corrected
 */
export function changedArguments(form, values, editable) {
  /** @type {Values} */
  const changed = {};
  for (const [name, schema] of Object.entries(editable)) {
    const input = form.elements.namedItem(`argument ${name}`);
    if (!isField(input)) continue;
    const value = valueOf(input, schema);
    input.setCustomValidity(value === INVALID ? gettext("Enter JSON, such as [1, 2].") : "");
    if (!input.reportValidity()) return null;
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(values[name])) changed[name] = value;
  }
  return changed;
}

/** @param {string} name @param {string} label @param {unknown} value @param {Schema} schema @param {string} id */
function field(name, label, value, schema, id) {
  const hint = schema.description ? html`<span class="hint" id="${id}-hint" dir="auto">${schema.description}</span>` : nothing;
  return html`<div class="argument">
    <label class="argument-name" for=${id} dir="auto">${label}</label>
    ${input(name, value, schema, id)} ${hint}
  </div>`;
}

/** @param {string} name @param {unknown} value @param {Schema} schema @param {string} id */
function input(name, value, schema, id) {
  const fieldName = `argument ${name}`;
  const described = schema.description ? `${id}-hint` : nothing;
  const type = typeOf(schema);
  if (schema.enum)
    return html`<select id=${id} name=${fieldName} aria-describedby=${described}>
      ${value === undefined ? html`<option value=""></option>` : nothing}
      ${schema.enum.map(
        (one, index) => html`<option value=${index} ?selected=${same(one, value)}>${written(one)}</option>`,
      )}
    </select>`;
  if (type === "boolean")
    return html`<input type="checkbox" id=${id} name=${fieldName} ?checked=${value === true} aria-describedby=${described} />`;
  if (type === "integer" || type === "number")
    return html`<input type="number" id=${id} name=${fieldName} step=${type === "integer" ? "1" : "any"}
      value=${value ?? ""} ?required=${value !== undefined} aria-describedby=${described} />`;
  const text = value === undefined ? "" : written(value);
  if (type === "string" && text.length <= LONG && !text.includes("\n"))
    return html`<input id=${id} name=${fieldName} dir="auto" value=${text} aria-describedby=${described} />`;
  return html`<textarea id=${id} name=${fieldName} dir="auto" rows=${Math.min(8, text.split("\n").length + 1)}
    .defaultValue=${text} aria-describedby=${described}></textarea>`;
}

const INVALID = Symbol("invalid");

/** @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input @param {Schema} schema */
function valueOf(input, schema) {
  if (schema.enum) return input.value ? schema.enum[Number(input.value)] : undefined;
  const type = typeOf(schema);
  if (type === "boolean") {
    const box = /** @type {HTMLInputElement} */ (input);
    return box.checked === box.defaultChecked ? undefined : box.checked;
  }
  if (input instanceof HTMLSelectElement || input.value === input.defaultValue) return undefined;
  if (type === "string") return input.value;
  if (input.value.trim() === "") return undefined;
  if (type === "integer" || type === "number") return Number(input.value);
  try {
    return JSON.parse(input.value);
  } catch {
    return INVALID;
  }
}

/** @param {Schema} schema @returns {string} the first type that is not null */
function typeOf({ type }) {
  return [type].flat().find((one) => one && one !== "null") ?? "";
}

/** The text of an argument that cannot be edited. Long texts scroll, also by keyboard. @param {string} label @param {unknown} value */
function shown(label, value) {
  const text = written(value);
  const isCode = typeof value === "object" && value !== null;
  const classes = isCode ? "argument-value argument-code" : "argument-value";
  if (text.length <= MOST && !text.includes("\n")) return html`<span class=${classes} dir="auto">${text}</span>`;
  return html`<div class=${classes} dir=${isCode ? "ltr" : "auto"} tabindex="0" role="group" aria-label=${label}>${text}</div>`;
}

/** @param {unknown} value */
function written(value) {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "";
  return line.length <= LONG ? line : JSON.stringify(value, null, 2);
}

/** @param {unknown} one @param {unknown} other */
function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** @param {unknown} found @returns {found is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */
function isField(found) {
  return (
    found instanceof HTMLInputElement || found instanceof HTMLTextAreaElement || found instanceof HTMLSelectElement
  );
}
