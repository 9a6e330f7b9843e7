// The whole manifest: every field that its schema has, and the text as it is stored.

import { reasonOf } from "../../parts.js";
import { element, paragraph } from "../elements.js";
import { fetchJson } from "../store.js";

/**
 * @import { Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

/** @type {Promise<{form: Json, schema: Json}> | undefined} */
let schemas;

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
  title: "All fields",
  async render(container, store) {
    const note = element("p", { role: "status" }, "The form is being made…");
    const panel = element("div", { class: "manifest-editor-form" });
    container.append(
      paragraph("Everything that a manifest can say, drawn from its schema. The other sections show the same value."),
      note,
      element("div", { class: "manifest-editor" }, panel),
    );
    const [{ FormMode }, { form }] = await Promise.all([import("../../form-mode.js"), loadSchemas(store)]);
    if (!panel.isConnected) return;
    const mode = new FormMode({ panel, schema: form, onEdit: (/** @type {Json} */ edited) => store.replace(edited) });
    const hidden = await mode.show(structuredClone(store.document));
    note.textContent = hidden.length ? `The form keeps, but does not show: ${hidden.join(", ")}.` : "";
    note.hidden = !hidden.length;
    const mark = () => mode.mark(store.findings);
    store.subscribe((what) => what === "findings" && mark(), panel);
    mark();
  },
};

/** @type {Section} */
export const asText = {
  id: "text",
  title: "Text",
  async render(container, store) {
    const note = element("p", { role: "status", class: "studio-error" });
    const panel = element("div", { class: "manifest-editor-code" });
    const text = `${JSON.stringify(store.document, null, 2)}\n`;
    const textarea = element("textarea", { value: text, hidden: true, "aria-label": "Manifest as JSON" });
    panel.append(textarea);
    container.append(
      paragraph("The manifest as it is stored. Escape, then Tab, leaves the editor."),
      note,
      element("div", { class: "manifest-editor" }, panel),
    );
    const [{ TextMode }, { schema }] = await Promise.all([import("../../text-mode.js"), loadSchemas(store)]);
    if (!panel.isConnected) return;
    /** @param {string} typed */
    const edited = (typed) => {
      try {
        const read = JSON.parse(typed);
        if (read === null || typeof read !== "object" || Array.isArray(read)) throw new Error("It has to be an object.");
        note.textContent = "";
        store.replace(read);
      } catch (error) {
        note.textContent = `This is no JSON yet, so it is not part of the draft: ${reasonOf(error)}`;
      }
    };
    /** @param {string} typed */
    const check = async (typed) => {
      const body = new FormData();
      body.set("manifest", typed);
      const headers = { "X-CSRFToken": store.data.csrf };
      const response = await fetch(store.data.urls.checkText, { method: "POST", body, headers });
      return response.ok ? (await response.json()).findings : null;
    };
    const mode = new TextMode({ panel, textarea, schema, onEdit: edited, check });
    mode.lintNow();
  },
};
