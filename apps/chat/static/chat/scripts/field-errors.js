/** Errors at the fields of forms. They replace the bubbles of browsers. */

import { gettext } from "./texts.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** @type {WeakMap<Field, HTMLElement>} */
const errors = new WeakMap();

/**
 * Shows below a field why a browser does not send it. The first such field of a form takes the focus.
 * @param {Field} field @param {HTMLElement} [shown] what users see instead of the field
 */
export function showError(field, shown = field) {
  clearError(field);
  document.getElementById(`${field.id}_error`)?.remove(); // The server's error is outdated.
  const error = paragraph(textOf(field));
  placeOf(field, shown).after(error);
  errors.set(field, error);
  point(field, error);
  for (let around = shown.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
  if (firstInvalid(field.form) === field) shown.focus();
}

/** @param {string} text */
export function paragraph(text) {
  const made = document.createElement("p");
  made.className = "field-error";
  made.textContent = text;
  return made;
}

/** @param {Field} field @param {HTMLElement} box */
export function point(field, box) {
  box.id = `${field.id || field.name}_problem`;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", [field.getAttribute("aria-describedby"), box.id].filter(Boolean).join(" "));
}

/** @param {Field} field */
export function unpoint(field) {
  if (!field.hasAttribute("aria-invalid")) return;
  field.removeAttribute("aria-invalid");
  const ids = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== `${field.id || field.name}_problem`);
  if (ids.length) field.setAttribute("aria-describedby", ids.join(" "));
  else field.removeAttribute("aria-describedby");
}

/** The element after which an error is inserted: radio buttons share one error. @param {Field} field @param {HTMLElement} shown */
function placeOf(field, shown) {
  const group = field.type === "radio" ? field.closest("fieldset")?.lastElementChild : null;
  return group ?? field.closest("label, .file-input") ?? shown;
}

/** @param {Field} field */
function textOf(field) {
  const { valueMissing, typeMismatch } = field.validity;
  if (valueMissing && field.dataset.missing) return field.dataset.missing;
  if (valueMissing && field.type === "file") return gettext("Choose a file.");
  if (valueMissing && ["radio", "select-one"].includes(field.type)) return gettext("Choose an option.");
  if (valueMissing) return gettext("This field is required.");
  if (typeMismatch && field.type === "email") return gettext("Enter a valid email address.");
  if (typeMismatch && field.type === "url") return gettext("Enter a valid URL.");
  return field.validationMessage;
}

/** @param {Field} field */
function clearError(field) {
  if (!errors.has(field)) return;
  errors.get(field)?.remove();
  errors.delete(field);
  unpoint(field);
}

/** @param {HTMLFormElement | null} form */
function firstInvalid(form) {
  return /** @type {Field[]} */ ([...(form?.elements ?? [])]).find(({ willValidate, validity }) => willValidate && !validity.valid);
}

/** The fields whose error a field shares. @param {Field} field @returns {Field[]} */
function groupOf(field) {
  if (field.type !== "radio" || !field.form) return [field];
  const all = /** @type {Field[]} */ ([...field.form.elements]);
  return all.filter(({ type, name }) => type === "radio" && name === field.name);
}

/** Shows the errors of all forms of the page, until their fields are valid. */
export function showErrorsAtFields() {
  document.addEventListener("invalid", showInvalid, { capture: true });
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement)) return;
    for (const field of groupOf(target)) if (field.validity.valid) clearError(field);
  });
}

/** @param {Event} event */
function showInvalid(event) {
  const field = /** @type {Field} */ (event.target);
  if (field.hidden) return; // A choice list stands for it.
  event.preventDefault();
  if (groupOf(field)[0] === field) showError(field);
}
