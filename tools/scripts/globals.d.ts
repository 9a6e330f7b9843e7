import type { MarkdownText } from "../../apps/chat/static/chat/scripts/markdown/markdown.js";
import type { Catalogue } from "../../apps/chat/static/chat/scripts/texts.js";

declare global {
  /** Django's catalogue of texts in the language of the page; English pages have none. */
  var django: Catalogue | undefined;

  interface HTMLElementTagNameMap {
    "markdown-text": MarkdownText;
  }
}
