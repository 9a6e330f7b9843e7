/** Markdown footnotes: `[^1]` in the text and `[^1]: …` on a line of its own, both as raised numbers. */

import { gettext } from "../texts.js";
const MARK = /^\[\^([\w-]{1,20})\](?!:)/;
const TEXT = /^ {0,3}\[\^([\w-]{1,20})\]:[ \t]+([^\n]+(?:\n(?! {0,3}\[\^)[^\n]+)*)(?:\n|$)/;

/** @type {any} the mark in the text */
export const footnoteMarks = {
  name: "footnoteMark",
  level: "inline",
  start: (/** @type {string} */ source) => source.match(/\[\^[\w-]/)?.index,
  tokenizer(/** @type {string} */ source) {
    const found = MARK.exec(source);
    return found ? { type: "footnoteMark", raw: found[0], label: found[1] } : undefined;
  },
  renderer: (/** @type {{label: string}} */ { label }) => `<sup data-footnote="${label}">${label}</sup>`,
};

/** @type {any} the note itself */
export const footnoteTexts = {
  name: "footnoteText",
  level: "block",
  start: (/** @type {string} */ source) => source.match(/(?:^|\n) {0,3}\[\^[\w-]{1,20}\]:/)?.index,
  /** @this {any} @param {string} source */
  tokenizer(source) {
    const found = TEXT.exec(source);
    if (!found) return undefined;
    const [raw, label, text] = found;
    return { type: "footnoteText", raw, label, tokens: this.lexer.inlineTokens(text) };
  },
  /** @this {any} @param {{label: string, tokens: unknown[]}} token */
  renderer(token) {
    const { label, tokens } = token;
    return `<p data-footnote-text="${label}"><small><sup>${label}</sup> ${this.parser.parseInline(tokens)}</small></p>\n`;
  },
};

/** Marks become buttons that jump to their notes, and each note links back. @param {ParentNode} root */
export function linkFootnotes(root) {
  for (const mark of root.querySelectorAll("sup[data-footnote]")) {
    mark.replaceChildren(footnoteButton(mark.textContent ?? "", gettext("Footnote {number}", { number: mark.textContent ?? "" })));
  }
  for (const note of root.querySelectorAll("p[data-footnote-text]")) {
    note.setAttribute("tabindex", "-1");
    note.append(" ", footnoteButton("↩", gettext("Back to the text of footnote {number}", { number: note.getAttribute("data-footnote-text") ?? "" })));
  }
}

/** @param {string} words @param {string} label */
function footnoteButton(words, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "footnote-button";
  button.setAttribute("aria-label", label);
  button.textContent = words;
  return button;
}

/** @param {Event} event a click somewhere in rendered Markdown */
export function followFootnote(event) {
  const button = event.target instanceof Element ? event.target.closest(".footnote-button") : null;
  const text = button?.closest("markdown-text");
  if (!button || !text) return;
  const label = button.closest("sup[data-footnote]")?.getAttribute("data-footnote");
  const back = button.closest("p[data-footnote-text]")?.getAttribute("data-footnote-text");
  const place = label
    ? text.querySelector(`p[data-footnote-text="${label}"]`)
    : text.querySelector(`sup[data-footnote="${back}"] button`);
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView({ block: "nearest" });
  place.focus({ preventScroll: true });
}
