// The whole manifest: every field of its schema, and the stored text.

import { reasonOf } from "../../parts.js";
import { button, element, paragraph } from "../elements.js";
import { fetchJson } from "../store.js";

/**
 * @import { Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const LARGE_CHARACTERS = 60_000; // Above this size, building the form takes seconds.

/** @type {Promise<{form: Json, schema: Json}> | undefined} */
let schemas;
let isLargeWanted = false;

/** @param {Store} store */
function loadSchemas(store) {
  schemas ??= fetchJson(store.data.urls.schema).catch((error) => {
    schemas = undefined;
    throw error;
  });
  return schemas;
}

/** @type {Section} */
export const allFields = {
  id: "all-fields",
  async render(container, store) {
    container.append(paragraph("All fields of the manifest, generated from its schema. The other sections show the same values."));
    await wanted(container, JSON.stringify(store.manifest).length);
    const note = element("p", { role: "status" }, "Loading the form…");
    const panel = element("div", { class: "manifest-editor-form" });
    container.append(note, element("div", { class: "manifest-editor" }, panel));
    const [{ FormMode }, { form }] = await Promise.all([import("../../manifest/form-mode.js"), loadSchemas(store)]);
    if (!panel.isConnected) return;
    const mode = new FormMode({ panel, schema: form, onEdit: (/** @type {Json} */ edited) => store.replace(edited) });
    const hidden = await mode.show(structuredClone(store.manifest));
    note.textContent = hidden.length ? `This form cannot show ${hidden.join(", ")}. Edit such values under Text.` : "";
    note.hidden = !hidden.length;
    const mark = () => mode.mark(store.findings);
    store.subscribe((what) => what === "findings" && mark(), panel);
    mark();
    return (/** @type {string} */ path) => mode.goTo(path);
  },
};

/** Ask before building a form that takes seconds. @param {HTMLElement} container @param {number} characters @returns {Promise<void>} */
async function wanted(container, characters) {
  if (characters <= LARGE_CHARACTERS || isLargeWanted || container.closest("[disabled]")) return;
  await new Promise((resolve) => {
    const question = paragraph(
      `The manifest has ${characters.toLocaleString("en")} characters, so the form takes a few seconds to load. `,
      button("Load the form", resolve),
    );
    container.append(question);
  });
  isLargeWanted = true;
  container.lastElementChild?.remove();
}

/** @type {Section} */
export const asText = {
  id: "text",
  async render(container, store) {
    const note = element("p", { role: "status", class: "studio-error" });
    const undo = button("Show the draft instead", () => {
      store.unread = "";
      container.replaceChildren();
      this.render(container, store);
    });
    const panel = element("div", { class: "manifest-editor-code" });
    const text = store.unread || `${JSON.stringify(store.manifest, null, 2)}\n`;
    const textarea = element("textarea", { value: text, hidden: true, "aria-label": "Manifest as JSON" });
    panel.append(textarea);
    container.append(
      paragraph("The manifest as it is stored. To leave the editor, press Escape, then Tab."),
      note,
      undo,
      element("div", { class: "manifest-editor" }, panel),
    );
    /** @param {string} typed */
    const edited = (typed) => {
      try {
        const read = JSON.parse(typed);
        if (read === null || typeof read !== "object" || Array.isArray(read)) throw new Error("This must be an object.");
        store.unread = note.textContent = "";
        store.replace(read);
      } catch (error) {
        store.unread = typed;
        note.textContent = `This is not valid JSON, so it is not part of the draft: ${reasonOf(error)}`;
      }
      undo.hidden = !store.unread;
    };
    undo.hidden = !store.unread;
    if (store.unread) edited(store.unread);
    const [{ TextMode }, { schema }] = await Promise.all([import("../../manifest/text-mode.js"), loadSchemas(store)]);
    if (!panel.isConnected) return;
    /** @param {string} typed */
    const check = async (typed) => {
      const body = new FormData();
      body.set("manifest", typed);
      const headers = { "X-CSRFToken": store.data.csrf };
      const response = await fetch(store.data.urls.checkText, { method: "POST", body, headers });
      return response.ok ? (await response.json()).findings : null;
    };
    const isReadOnly = !store.data.may_change;
    const mode = new TextMode({ panel, textarea, schema, onEdit: edited, check, isReadOnly });
    mode.lintNow();
  },
};
