/** Formulas in Markdown: `$…$`, `\(…\)`, `$$…$$` and `\[…\]`, shown as MathML. */

import DOMPurify from "../../vendor/dompurify.js";

const LONGEST = 2_000;
const PATTERNS = [
  { display: true, opening: "$$", pattern: /^\$\$([^$]+?)\$\$/ },
  { display: true, opening: "\\[", pattern: /^\\\[([\s\S]+?)\\\]/ },
  { display: false, opening: "\\(", pattern: /^\\\(([\s\S]+?)\\\)/ },
  // Amounts of money are not formulas: no space inside the signs, and no digit after them.
  { display: false, opening: "$", pattern: /^\$(?![\s$])((?:\\.|[^$\n\\])*?[^\s$\\])\$(?!\d)/ },
];

/** The marked extension for formulas within a line. */
export const formulas = {
  name: "formula",
  level: /** @type {const} */ ("inline"),
  /** @param {string} text */
  start: (text) => {
    const found = text.search(/\$|\\[([]/);
    return found < 0 ? undefined : found;
  },
  tokenizer: read,
  /** @param {{tex: string, display: boolean}} token */
  renderer: ({ tex, display }) =>
    `<code data-formula="${display ? "block" : "inline"}">${escapeText(tex)}</code>`,
};

/** The marked extension for formulas in their own paragraph. */
export const formulaBlocks = {
  ...formulas,
  name: "formulaBlock",
  level: /** @type {const} */ ("block"),
  /** @param {string} text */
  start: (text) => {
    const found = text.search(/(?:^|\n)(?:\$\$|\\\[)/);
    return found < 0 ? undefined : found;
  },
  /** @param {string} text */
  tokenizer: (text) => {
    const token = read(text);
    return token?.display ? { ...token, type: "formulaBlock" } : undefined;
  },
  /** @param {{tex: string}} token */
  renderer: ({ tex }) => `<p><code data-formula="block">${escapeText(tex)}</code></p>`,
};

/** @param {string} text */
function read(text) {
  for (const { display, opening, pattern } of PATTERNS) {
    const match = text.startsWith(opening) ? pattern.exec(text) : null;
    if (match && match[1].length <= LONGEST) {
      return { type: "formula", raw: match[0], tex: match[1].trim(), display };
    }
  }
  return undefined;
}

/** @param {ParentNode} root in which every formula is replaced, once KaTeX has been loaded */
export async function showFormulas(root) {
  const places = [...root.querySelectorAll("code[data-formula]")];
  if (!places.length) return;
  const { renderToString } = await import("../../vendor/katex.js");
  for (const place of places) {
    const formula = mathml(renderToString, place);
    if (formula) place.replaceWith(formula);
  }
}

/**
 * @param {(tex: string, options: object) => string} renderToString
 * @param {Element} place
 * @returns {Node | null} null for a formula that cannot be read: its source stays
 */
function mathml(renderToString, place) {
  const display = place.getAttribute("data-formula") === "block";
  try {
    const text = renderToString(place.textContent ?? "", {
      output: "mathml",
      displayMode: display,
      maxExpand: 200,
      maxSize: 20,
      throwOnError: true,
      trust: false,
    });
    const fragment = DOMPurify.sanitize(text.replace(/ style="[^"]*"/g, ""), {
      USE_PROFILES: { mathMl: true },
      // Otherwise, screen readers and copies would include the source.
      FORBID_CONTENTS: ["annotation"],
      RETURN_DOM_FRAGMENT: true,
    });
    // A wide formula can be scrolled, also with the keyboard.
    if (display) fragment.querySelector("math")?.setAttribute("tabindex", "0");
    return fragment;
  } catch {
    return null;
  }
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
