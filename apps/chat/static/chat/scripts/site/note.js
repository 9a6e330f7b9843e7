/** Shows a note as Markdown; in its form, Ctrl+Enter saves. */

import { MarkdownText } from "../markdown/markdown.js";

for (const plain of document.querySelectorAll("[data-markdown]")) {
  const shown = new MarkdownText();
  shown.className = "note-text";
  shown.text = plain.textContent ?? "";
  shown.complete = true;
  plain.replaceWith(shown);
}

for (const form of document.querySelectorAll("form.page-form")) {
  form.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey } = /** @type {KeyboardEvent} */ (event);
    if (key === "Enter" && (ctrlKey || metaKey)) /** @type {HTMLFormElement} */ (form).requestSubmit();
  });
}
