// The manifest as a form, built from its schema.

import JSONEditor from "../vendor/json-editor.js";
import { merge, unseen } from "./lens.js";
import { parts } from "../parts.js";
import { join, split } from "./paths.js";

/**
 * @import { Finding, Json } from "../studio/data.js"
 */

/**
 * Manifests and their schema contain plain text, which stays unchanged. The library would interpret it as HTML: a tag in a prompt would be lost, and might load something. With DOMPurify on the page, it would still lose "files/<bucket>/<path>", and write "a &lt; b" into a field, so the library gets no sanitizer.
 * @param {string} text
 */
const asWritten = (text) => text;
JSONEditor.AbstractTheme.prototype.cleanText = asWritten;
JSONEditor.AbstractEditor.prototype.cleanText = asWritten;
JSONEditor.AbstractEditor.prototype.purify = asWritten;

// The `type` of a value selects its kind, valid or not. The library would select a kind that is
// valid, and show a value with an error as another kind.
class TaggedChoice extends JSONEditor.defaults.editors.multiple {
  /** @param {any} value @param {boolean} initial */
  setValue(value, initial) {
    const index = this.tagged(value);
    if (index < 0) {
      super.setValue(value, initial);
      return;
    }
    if (index !== this.type) {
      this.switcher.value = this.display_text[index];
      this.switchEditor(index);
    }
    this.editors[index].setValue(value, initial);
    this.refreshValue();
    this.onChange();
  }

  /** @param {any} value @returns {number} */
  tagged(value) {
    if (value === undefined || !this.types.some((/** @type {Json} */ type) => type?.tags)) return -1;
    if (value?.type === undefined) return this.alike(value);
    const index = this.types.findIndex((/** @type {Json} */ type) => type.tags?.includes(value.type));
    return index >= 0 ? index : this.types.findIndex((/** @type {Json} */ type) => type.options?.unknown);
  }

  /** Without a `type`, the keys decide, as when the manifest is read. @param {any} value */
  alike(value) {
    const keys = Object.keys(value ?? {});
    const scores = this.types.map((/** @type {Json} */ type) => {
      const { properties = {} } = this.jsoneditor.expandRefs(type);
      return keys.filter((key) => key in properties).length;
    });
    return scores.indexOf(Math.max(...scores));
  }
}
JSONEditor.defaults.editors.multiple = TaggedChoice;

// The list of further fields closes on a click elsewhere, and the click still has its usual effect.
// The library would swallow it, even a click on "Save".
class YieldingObject extends JSONEditor.defaults.editors.object {
  /** @param {Event} event */
  onOutsideModalClick(event) {
    const [target] = event.composedPath();
    const own = [this.addproperty_holder, this.addproperty_button];
    if (!own.some((element) => element?.contains(target))) this.hideAddProperty();
  }

  onEscape() {
    if (!this.adding_property) return;
    this.hideAddProperty();
    this.addproperty_button.focus();
  }
}
JSONEditor.defaults.editors.object = YieldingObject;

Object.assign(JSONEditor.defaults.languages.en, {
  button_object_properties: "More fields",
});

/**
 * Closes the lists of further fields in an editor and in all nested editors. The library's register has one editor per path, but a choice of kinds has several.
 * @param {any} editor
 */
function closeLists(editor) {
  editor?.onEscape?.();
  for (const inner of Object.values(editor?.editors ?? editor?.rows ?? {})) closeLists(inner);
}

const ROOT = "manifest_form";
const FINDING = "manifest-finding-";

const OPTIONS = {
  ajax: false,
  disable_array_delete_all_rows: true,
  disable_array_delete_last_row: true,
  disable_edit_json: true,
  display_required_only: true,
  enable_array_copy: true,
  iconlib: null,
  no_additional_properties: true,
  prompt_before_delete: false,
  show_errors: "never",
  theme: "html",
};

export class FormMode {
  /** @type {Json} */
  document = {};
  /** @type {Json | undefined} the state of the form */
  before;
  isSetting = false;

  /**
   * `onEdit(document)` is called after every edit.
   * @param {{panel: HTMLElement, schema: object | undefined, onEdit: (document: Json) => void}} options
   */
  constructor({ panel, schema, onEdit }) {
    this.panel = panel;
    this.editor = new JSONEditor(panel, { ...OPTIONS, schema, form_name_root: ROOT });
    // The library would validate after every change, but the server does that.
    this.editor.validate = () => [];
    // Only the text area is submitted.
    panel.closest("form")?.addEventListener("formdata", ({ formData }) => {
      for (const name of [...formData.keys()]) if (name.startsWith(ROOT)) formData.delete(name);
    });
    panel.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") closeLists(this.editor.root);
    });
    // The library reports a frame later. An edit and the deletion of an item in one frame would be one
    // difference, in which items are indistinguishable and lose the fields that the form does not show.
    panel.addEventListener("click", () => this.changed(), { capture: true });
    this.onEdit = onEdit;
    this.ready = new Promise((resolve) => this.editor.on("ready", resolve));
    this.editor.on("change", () => this.changed());
  }

  /**
   * Show a document. Returns the paths that the form does not show.
   * @param {Json} document @returns {Promise<string[]>}
   */
  async show(document) {
    await this.ready;
    this.isSetting = true;
    this.document = document;
    this.editor.setValue(document);
    this.before = this.editor.getValue();
    // The library reports its own changes a moment later.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    this.before = structuredClone(this.editor.getValue());
    this.isSetting = false;
    label(this.panel);
    return unseen(document, this.before).map(join);
  }

  changed() {
    if (this.isSetting || this.before === undefined) return;
    label(this.panel);
    const after = structuredClone(this.editor.getValue());
    const merged = /** @type {Json} */ (merge(this.document, this.before, after));
    this.before = after;
    if (merged === this.document) return;
    this.document = merged;
    this.onEdit(merged);
  }

  /** Show each finding at its field, or at the nearest enclosing field. @param {Finding[]} findings */
  mark(findings) {
    for (const note of this.panel.querySelectorAll(".manifest-editor-inline")) note.remove();
    for (const field of this.panel.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      describe(field, (id) => !id.startsWith(FINDING));
    }
    for (const [index, finding] of findings.entries()) this.markOne(finding, index);
  }

  /** @param {Finding} finding @param {number} index */
  markOne({ severity, path, message }, index) {
    const place = this.place(path);
    if (!place) return;
    const note = document.createElement("p");
    note.id = `${FINDING}${index}`;
    note.className = `manifest-editor-inline manifest-editor-${severity}`;
    note.textContent = place.isExact ? message : `${path}: ${message}`;
    place.editor.container.append(note);
    if (severity === "error" && place.editor.input) {
      place.editor.input.setAttribute("aria-invalid", "true");
      describe(place.editor.input, () => true, note.id);
    }
  }

  /** @param {string} path @returns {{editor: any, isExact: boolean} | null} */
  place(path) {
    const parts = split(path);
    for (let length = parts.length; length >= 0; length -= 1) {
      const editor = this.editor.getEditor([ROOT, ...parts.slice(0, length)].join("."));
      if (editor?.container && !editor.options?.hidden) {
        return { editor, isExact: length === parts.length };
      }
    }
    return null;
  }

  /** @param {string} path */
  goTo(path) {
    const place = this.place(path);
    const target = place?.editor.container;
    if (!target) return;
    target.scrollIntoView({ block: "center" });
    const field = target.querySelector("input, select, textarea, button");
    (field ?? target).focus({ preventScroll: true });
  }
}

/**
 * Changes the elements that describe a field: its help and its findings.
 * @param {Element} field @param {(id: string) => boolean} isKept @param {string[]} more
 */
function describe(field, isKept, ...more) {
  const before = field.getAttribute("aria-describedby")?.split(" ") ?? [];
  const ids = [...before.filter(isKept), ...more];
  if (ids.length) field.setAttribute("aria-describedby", ids.join(" "));
  else field.removeAttribute("aria-describedby");
}

/**
 * The library gives the same ID to all kinds of a value, and to the help of all checkboxes. It builds IDs from keys in the manifest, which may contain spaces, the separators between IDs.
 * @param {HTMLElement} panel
 */
function tellApart(panel) {
  const taken = new Set();
  for (const element of panel.querySelectorAll("[id]")) {
    const id = element.id.replace(/\s/g, "_");
    const isFree = !taken.has(id) && [element, null].includes(document.getElementById(id));
    if (!isFree || id !== element.id) {
      rename(element, isFree ? id : free(id), element.closest("[data-schemapath]") ?? panel);
    }
    taken.add(element.id);
  }
}

/** @param {string} id */
function free(id) {
  let number = 2;
  while (document.getElementById(`${id}-${number}`)) number += 1;
  return `${id}-${number}`;
}

/** @param {Element} element @param {string} id @param {Element} scope */
function rename(element, id, scope) {
  const before = element.id;
  element.id = id;
  for (const name of scope.querySelectorAll("label")) if (name.htmlFor === before) name.htmlFor = id;
  for (const field of scope.querySelectorAll("[aria-describedby]")) {
    const ids = field.getAttribute("aria-describedby");
    if (ids === before) field.setAttribute("aria-describedby", id);
    else if (ids?.split(" ").includes(before)) describe(field, (other) => other !== before, id);
  }
}

/** Labels controls that the library leaves without a label. @param {HTMLElement} panel */
function label(panel) {
  tellApart(panel);
  for (const name of panel.querySelectorAll("label")) {
    // The library names the kind selector "manifest_form[a][b] switcher".
    if (name.textContent?.endsWith(" switcher")) name.textContent = `Kind: ${pathOf(name)}`;
  }
  /** @type {Set<Element | null>} */
  const labelled = new Set([...panel.querySelectorAll("label")].map(({ control }) => control));
  for (const field of panel.querySelectorAll(":is(input, select, textarea):not([aria-label])")) {
    if (labelled.has(field)) continue;
    field.setAttribute("aria-label", pathOf(field) || "manifest");
  }
  for (const button of parts(panel, "button:not([aria-label])", HTMLButtonElement)) {
    const title = button.title || button.textContent?.trim();
    const path = pathOf(button);
    if (title) button.setAttribute("aria-label", path ? `${title}: ${path}` : title);
  }
}

/** @param {Element} element */
const pathOf = (element) =>
  element.closest("[data-schemapath]")?.getAttribute("data-schemapath")?.slice(ROOT.length + 1) ?? "";
