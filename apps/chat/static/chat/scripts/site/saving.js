/**
 * Forms with `data-saves`: each change is saved immediately, and can be undone. The attribute's value replaces the text "Saved.".
 * Only changed fields are sent, so that two tabs do not overwrite each other's changes.
 */

import { paragraph, point, unpoint } from "../field-errors.js";
import { csrfToken } from "../requests.js";
import { gettext } from "../texts.js";

/** @import { Field } from "../field-errors.js" */
/** @import { ChatToast } from "../notices/toast.js" */
/** @typedef {Record<string, string>} Values of the fields by their names; boxes are "on" or "off" */
/** @typedef {Record<string, string[]>} Problems by the names of the fields; "" stands for the form */
/** @typedef {(form: HTMLFormElement, changed: Values) => Promise<{text: string, problems?: Problems}>} Send `text` announces success */

const NO_VALUES = ["hidden", "submit", "button", "file", "fieldset"];

export const isSignedIn = Boolean(document.getElementById("main")?.dataset.account);

// The page's frame has defined it.
const toast = /** @type {ChatToast | null} */ (document.getElementById("toast"));
const said = document.getElementById("said");

/** A form whose changes are saved. After each save, it dispatches the event "saved", whose detail contains the new values. */
export class SavedForm {
  #form;
  #send;
  #saved;
  /** Changes that the server has not confirmed yet. @type {Values | null} */
  #sending = null;
  #isTouched = false;
  #hasProblem = false;

  /** @param {HTMLFormElement} form @param {Send} send @param {Values} saved */
  constructor(form, send, saved) {
    this.#form = form;
    this.#send = send;
    this.#saved = saved;
    form.noValidate = true; // The server's errors are shown at their fields.
    form.addEventListener("input", () => (this.#isTouched = true));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save();
    });
    // Browsers report a change after each part of a time.
    form.addEventListener("change", ({ target }) => isTime(target) || void this.save());
    form.addEventListener("focusout", ({ target, relatedTarget }) => {
      if (isTime(target) && !(isTime(relatedTarget) && form.contains(/** @type {Node} */ (relatedTarget)))) void this.save();
    });
    addEventListener("pagehide", () => this.#leave());
    document.addEventListener("visibilitychange", () => document.hidden && this.#leave());
    addEventListener("beforeunload", (event) => {
      // Chrome drops requests of a hidden page that has a service worker.
      this.#leave();
      if (this.#hasProblem) event.preventDefault();
    });
  }

  /** @param {{isUndo?: boolean}} [how] */
  async save({ isUndo = false } = {}) {
    if (this.#sending) return; // When the answer arrives, later changes are sent.
    const unread = fieldsOf(this.#form).filter(({ validity }) => validity.badInput);
    if (unread.length) return this.#show(Object.fromEntries(unread.map(({ name, validationMessage }) => [name, [validationMessage]])), []);
    const changed = difference(valuesOf(this.#form), this.#saved);
    if (!Object.keys(changed).length) return this.#clear();
    this.#sending = changed;
    const { text, problems } = await this.#send(this.#form, changed);
    this.#sending = null;
    if (problems) this.#show(problems, Object.keys(changed));
    else this.#accept(changed, isUndo ? "" : text);
    const later = difference(valuesOf(this.#form), { ...this.#saved, ...changed });
    if (Object.keys(later).length) await this.save();
  }

  /** @param {Values} changed @param {string} text */
  #accept(changed, text) {
    const earlier = Object.fromEntries(Object.keys(changed).map((name) => [name, this.#saved[name]]));
    this.#saved = { ...this.#saved, ...changed };
    this.#isTouched = false;
    this.#clear();
    this.#form.dispatchEvent(new CustomEvent("saved", { bubbles: true, detail: changed }));
    if (!text) return;
    announce(text);
    const undo = () => {
      fill(this.#form, earlier);
      void this.save({ isUndo: true });
    };
    void toast?.show(text, undo, { takesFocus: false });
  }

  /** Send changes that are not saved yet, even if an earlier request is still running. */
  #leave() {
    if (!this.#isTouched) return;
    const changed = difference(valuesOf(this.#form), this.#saved);
    const isNew = Object.keys(difference(changed, this.#sending ?? {})).length > 0;
    if (!isNew) return;
    if (this.#sending) void this.#send(this.#form, changed);
    else void this.save();
  }

  /** @param {Problems} problems @param {string[]} changed */
  #show(problems, changed) {
    this.#clear();
    this.#hasProblem = true;
    const fields = fieldsOf(this.#form);
    for (const [name, texts] of Object.entries(problems)) {
      const field = fields.find((one) => one.name === name);
      const last = fields.findLast((one) => changed.includes(one.name));
      const around = (field ?? last)?.closest(".field, div");
      const place = around && this.#form.contains(around) ? around : this.#form;
      const box = document.createElement("div");
      box.className = "save-problem";
      for (const text of texts) box.append(paragraph(text));
      place.append(box);
      if (field) point(field, box);
      else box.append(this.#retryButton());
      announce(texts.join(" "));
    }
  }

  #retryButton() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = gettext("Try again");
    button.addEventListener("click", () => void this.save());
    return button;
  }

  #clear() {
    this.#hasProblem = false;
    for (const field of fieldsOf(this.#form)) unpoint(field);
    for (const box of this.#form.querySelectorAll(".save-problem")) box.remove();
  }
}

/** Sends the changed fields to the server. @type {Send} */
async function send(form, changed) {
  const body = new FormData();
  for (const hidden of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input[type=hidden]"))) body.append(hidden.name, hidden.value);
  const boxes = fieldsOf(form).filter(({ type }) => type === "checkbox").map(({ name }) => name);
  for (const [name, value] of Object.entries(changed)) {
    body.append("changed", name);
    if (!boxes.includes(name) || value === "on") body.append(name, value);
  }
  const headers = { Accept: "application/json", "X-CSRFToken": csrfToken() };
  try {
    // The request is completed even if the user leaves the page.
    const response = await fetch(form.action, { method: "POST", body, headers, redirect: "manual", keepalive: true });
    if (response.status === 204) return { text: form.dataset.saves || gettext("Saved.") };
    if (response.status === 400) return { text: "", problems: await response.json() };
    // The server redirects users who are signed out.
    if (response.type === "opaqueredirect" || response.status === 403) return failed(gettext("This change isn’t saved. Reload the page and sign in again."));
  } catch {
    // The server is unreachable, or its answer is not JSON.
  }
  return failed(gettext("This change isn’t saved. Check your connection and try again."));
}

/** @param {string} text */
function failed(text) {
  return { text: "", problems: { "": [text] } };
}

/** @param {string} text */
function announce(text) {
  if (!said) return;
  said.textContent = "";
  requestAnimationFrame(() => (said.textContent = text)); // Repeated text is announced only if the region changes.
}

/** @param {EventTarget | null} target */
function isTime(target) {
  return target instanceof HTMLInputElement && target.type === "time";
}

/** The values that differ. @param {Values} values @param {Values} others @returns {Values} */
function difference(values, others) {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== others[name]));
}

/** Sets the fields that `values` contains. @param {HTMLFormElement} form @param {Values} values */
export function fill(form, values) {
  for (const field of fieldsOf(form)) {
    const value = values[field.name];
    if (value === undefined) continue;
    if (isRadio(field)) field.checked = field.value === value;
    else if (isBox(field)) field.checked = value === "on";
    else field.value = value;
  }
}

/** @param {HTMLFormElement} form @returns {Values} */
export function valuesOf(form) {
  return collect(form, (field) => field.checked, (field) => field.value);
}

/** The values that the server rendered. @param {HTMLFormElement} form @returns {Values} */
function renderedValuesOf(form) {
  return collect(form, (field) => field.defaultChecked, renderedValue);
}

/** @param {Field} field @returns {string} */
function renderedValue(field) {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return ([...field.options].find((option) => option.hasAttribute("selected")) ?? field.options[0])?.value ?? "";
}

/** @param {HTMLFormElement} form @param {(field: HTMLInputElement) => boolean} isChecked @param {(field: Field) => string} valueOf @returns {Values} */
function collect(form, isChecked, valueOf) {
  /** @type {Values} */
  const found = {};
  for (const field of fieldsOf(form)) {
    if (isBox(field)) found[field.name] = isChecked(field) ? "on" : "off";
    else if (!isRadio(field)) found[field.name] = valueOf(field);
    else if (isChecked(field)) found[field.name] = field.value;
  }
  return found;
}

/** @param {Field} field @returns {field is HTMLInputElement} */
function isRadio(field) {
  return field.type === "radio";
}

/** @param {Field} field @returns {field is HTMLInputElement} */
function isBox(field) {
  return field.type === "checkbox";
}

/** @param {HTMLFormElement} form @returns {Field[]} */
function fieldsOf(form) {
  const all = /** @type {Field[]} */ ([...form.elements]);
  return all.filter(({ name, type, disabled }) => name && !disabled && !NO_VALUES.includes(type));
}

/** @returns {HTMLFormElement[]} */
export function savedForms() {
  return [.../** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-saves]"))];
}

if (isSignedIn) {
  // Fields that the user changed before this script was loaded are saved now.
  for (const form of savedForms()) void new SavedForm(form, send, renderedValuesOf(form)).save();
}
