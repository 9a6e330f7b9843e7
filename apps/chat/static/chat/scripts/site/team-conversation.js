/** Shows the answers of a read-only conversation as Markdown. */

import { MarkdownText } from "../markdown/markdown.js";

for (const plain of document.querySelectorAll("[data-markdown]")) {
  const shown = new MarkdownText();
  shown.className = "answer-text";
  shown.text = plain.textContent ?? "";
  shown.complete = true;
  plain.replaceWith(shown);
}
