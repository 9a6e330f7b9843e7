// Renders Markdown as on the chat page. Until then, styles hide the text (`pre[data-markdown]` in admin.css).

/** @param {ParentNode} place */
export async function render(place) {
  const texts = place.querySelectorAll("pre[data-markdown]");
  if (!texts.length) return;
  await import("../chat/scripts/markdown/markdown.js");
  for (const text of texts) {
    const shown = document.createElement("markdown-text");
    shown.text = text.textContent ?? "";
    shown.complete = true;
    text.replaceWith(shown);
  }
}

render(document);
