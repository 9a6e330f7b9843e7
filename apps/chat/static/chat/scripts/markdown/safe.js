/**
 * Converts untrusted Markdown of a model to safe elements.
 *
 * Only the reader's own files are loaded: an external image could send parts of the conversation in its URL, so it becomes a link that the
 * reader may follow.
 */

import DOMPurify from "../../vendor/dompurify.js";
import { Marked } from "../../vendor/marked.js";
import { fileAddress, isConversation } from "../addresses.js";
import { iconElement } from "../icons.js";
import { footnoteMarks, footnoteTexts, linkFootnotes } from "./markdown-footnotes.js";
import { formulaBlocks, formulas } from "./maths.js";
import { noteLinks } from "./note-links.js";
import { frameTable } from "./table-buttons.js";
import { gettext } from "../texts.js";

/** @typedef {{type: string, raw: string, text?: string, tokens?: Token[], items?: Token[]}} Token a part of Markdown, as marked reads it */

const TAGS = [
  "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "dl", "dt", "em", "h1", "h2",
  "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "s", "samp",
  "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
  "tr", "u", "ul", "var",
];
const ATTRIBUTES = [
  "align", "alt", "colspan", "data-cit", "data-footnote", "data-footnote-text",
  "data-formula", "data-language", "data-note", "data-task", "data-title", "dir", "href", "lang", "open", "rowspan",
  "src", "start", "title",
];
const LINK = /^(?:https?:\/\/|mailto:)/i;
const CITATION = /<cit\s+data-id=["']([\w.:-]{1,200})["']\s*>/gi;
const STORED_PICTURE = /\.(?:png|jpe?g|gif|webp|avif|svg)$/i;
/** The file name after the language of a code block. */
const TITLE = /\b(?:title|file|filename)=(?:"([^"<>&]{1,120})"|([^\s"<>&]{1,120}))|\s([\w./-]{1,110}\.\w{1,10})(?=\s|$)/;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;

const marked = new Marked({ gfm: true, async: false });
marked.use({
  extensions: [formulaBlocks, formulas, noteLinks, footnoteTexts, footnoteMarks],
  renderer: {
    code({ text, lang, escaped }) {
      const language = (lang ?? "").match(/^[\w+#.-]+/)?.[0].toLowerCase() ?? "";
      const body = (escaped ? text : escapeText(text)).replace(/\n$/, "");
      const title = TITLE.exec(lang ?? "")?.slice(1).find(Boolean) ?? "";
      const attributes = `${language ? ` data-language="${language}"` : ""}${title ? ` data-title="${escapeText(title)}"` : ""}`;
      return `<pre><code${attributes}>${body}\n</code></pre>\n`;
    },
    checkbox: ({ checked }) => `<span data-task="${checked ? "done" : "open"}"></span>`,
    html: ({ text }) => plainTags(text),
  },
});

/** @param {string} text Markdown @returns {Token[]} its blocks */
export function blocksOf(text) {
  return marked.lexer(text);
}

/** @param {Token[]} blocks @returns {string} HTML that is not safe yet */
export function htmlOf(blocks) {
  return marked.parser(blocks);
}

/**
 * @param {string} html
 * @param {Outline} outline of the message so far
 * @returns {DocumentFragment}
 */
export function elementsOf(html, outline) {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  fragment.querySelectorAll("img").forEach(holdImage);
  fragment.querySelectorAll("a").forEach(holdLink);
  fragment.querySelectorAll("table").forEach(frameTable);
  fragment.querySelectorAll("span[data-task]").forEach(showTask);
  linkFootnotes(fragment);
  fragment.querySelectorAll("h1, h2, h3, h4, h5, h6").forEach((heading) => {
    if (heading.textContent?.trim() || heading.querySelector("img")) outline.place(heading);
    else heading.remove(); // Its text has not arrived yet.
  });
  // Only the outermost blocks: text in an element with its own direction does not affect its surroundings.
  for (const block of fragment.children) if (!block.hasAttribute("dir")) block.setAttribute("dir", "auto");
  return fragment;
}

/** Adjusts headings of a message: they are below the page's own headings and skip no level. */
export class Outline {
  /** @type {{depth: number, level: number}[]} */
  #path = [];

  /** @param {Element} heading which is replaced */
  place(heading) {
    const depth = Number(heading.tagName[1]);
    while (this.#path.length && this.#path[this.#path.length - 1].depth >= depth) this.#path.pop();
    const level = Math.min((this.#path.at(-1)?.level ?? 2) + 1, 6);
    this.#path.push({ depth, level });
    const placed = document.createElement(`h${level}`);
    placed.append(...heading.childNodes);
    heading.replaceWith(placed);
  }

  copy() {
    const copied = new Outline();
    copied.#path = [...this.#path];
    return copied;
  }
}

/** @param {HTMLImageElement} image */
function holdImage(image) {
  const address = image.getAttribute("src") ?? "";
  if (PICTURE.test(address)) {
    if (!image.hasAttribute("alt")) image.alt = "";
    image.loading = "lazy";
    if (!image.closest("a")) zoomOnClick(image);
    return;
  }
  const stored = fileAddress(address);
  if (stored && STORED_PICTURE.test(stored.pathname)) {
    image.src = stored.pathname;
    if (!image.hasAttribute("alt")) image.alt = "";
    image.loading = "lazy";
    if (!image.closest("a")) openOnClick(image, address);
    return;
  }
  const words = image.alt || address || "image";
  const link = document.createElement(LINK.test(address) && !image.closest("a") ? "a" : "span");
  if (link instanceof HTMLAnchorElement) link.href = address;
  link.className = "image-link";
  link.append(iconElement("image"), words);
  image.replaceWith(link);
}

/** @param {HTMLImageElement} image that has no address of its own */
function zoomOnClick(image) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "zoom";
  button.dataset.zoom = "";
  if (!image.alt) button.setAttribute("aria-label", gettext("Picture"));
  image.replaceWith(button);
  button.append(image);
}

/** A picture is at most as high as the page; its link shows the full size. @param {HTMLImageElement} image @param {string} address */
function openOnClick(image, address) {
  const link = document.createElement("a");
  link.setAttribute("href", address); // Made absolute together with the other links.
  link.dataset.zoom = "";
  link.setAttribute("aria-label", image.alt || gettext("Picture"));
  image.replaceWith(link);
  link.append(image);
}

/** @param {HTMLAnchorElement} link */
function holdLink(link) {
  const address = link.getAttribute("href")?.trim() ?? "";
  const stored = fileAddress(address);
  if (stored) link.href = stored.pathname;
  else if (!LINK.test(address) && !isConversation(address)) {
    link.removeAttribute("href");
    return;
  }
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  if (/^https?:/i.test(address) && link.host !== location.host) markForeign(link);
}

/** An external link shows its destination. @param {HTMLAnchorElement} link */
function markForeign(link) {
  link.title = link.host;
  link.classList.add("foreign");
  if (!link.querySelector("img, svg")) link.append(iconElement("external-link"));
}

/** @param {Element} mark of a list of tasks, which nobody can tick here */
function showTask(mark) {
  const isDone = mark.getAttribute("data-task") === "done";
  const sign = document.createElement("span");
  sign.setAttribute("aria-hidden", "true");
  sign.textContent = isDone ? "☑ " : "☐ ";
  const words = document.createElement("span");
  words.className = "visually-hidden";
  words.dir = "ltr"; // The list then has the direction of the model's text.
  words.textContent = isDone ? `${gettext("Done:")} ` : `${gettext("To do:")} `;
  mark.closest("li")?.classList.add("task");
  mark.replaceWith(sign, words);
}

/**
 * Removes raw HTML, except citation anchors and tags without attributes; everything else is shown as text. The content security policy would report attributes with scripts or styles even before they are removed.
 * @param {string} text
 */
function plainTags(text) {
  return text
    .replace(CITATION, '<sup data-cit="$1">')
    .replace(/<\/cit\s*>/gi, "</sup>")
    .replace(/<!--[\s\S]*?(?:-->|$)/g, "")
    .replace(/<(?!sup data-cit="[\w.:-]*">|\/?(?:br|b|i|u|s|em|strong|sub|sup|kbd|mark|small|ins|del|p|ul|ol|li|details|summary|hr)\s*\/?>)/gi, "&lt;");
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
