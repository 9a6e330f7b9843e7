// Edits how users see the application in lists: title, description, icon.

import { element, field } from "./elements.js";
import { iconField } from "./icon.js";

/**
 * @import { Store } from "./store.js"
 */

/** @param {Store} store */
export function naming(store) {
  /** @template {HTMLInputElement | HTMLTextAreaElement} C @param {"title" | "description"} name @param {C} control */
  const bound = (name, control) => {
    control.addEventListener("input", () => store.name({ [name]: control.value }));
    return control;
  };
  const title = bound("title", element("input", { value: store.title, maxLength: 200, autocomplete: "off" }));
  const description = bound("description", element("textarea", { value: store.description, rows: 2 }));
  return element(
    "details",
    { class: "studio-fold" },
    element("summary", {}, "Title, description and icon"),
    field(store, { control: title, findingsPath: "(title)" }),
    field(store, {
      control: description,
      findingsPath: "(description)",
      help: "Shown to users in lists of applications, and to models that can call this application as a tool.",
    }),
    iconField(store),
  );
}
