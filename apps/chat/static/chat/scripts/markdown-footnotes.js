/** Footnotes as Markdown has them: `[^1]` in the text, `[^1]: …` in a line of its own, both as raised numbers. */

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
  renderer: (/** @type {{label: string}} */ { label }) => `<sup>${label}</sup>`,
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
  renderer({ label, tokens }) {
    return `<p><small><sup>${label}</sup> ${this.parser.parseInline(tokens)}</small></p>\n`;
  },
};
