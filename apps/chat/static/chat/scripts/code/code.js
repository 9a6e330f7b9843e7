/** Code blocks: a bar with the language and actions, line numbers, and syntax colors. */

import { copy } from "../clipboard.js";
import { codeOf, fileNameOf, save } from "./files.js";
import { iconElement } from "../icons.js";
import { gettext } from "../texts.js";

/** The maximum number of characters to highlight; longer code would freeze the page for a moment. */
const LONGEST = 60_000;
const COPIED_FOR = 2_000;
/** Code with more lines than this has line numbers. */
const FEW_LINES = 10;
/** Longer lines may not fit. */
const LONG_LINE = 40;
/** Code with fewer lines is not worth a panel of its own. */
const FEW_EDITED = 4;
/** Languages that are shown as a page. */
const SHOWN = new Set(["html", "svg"]);
/** Languages that the interpreter of an app runs. */
const PYTHON = new Set(["python", "py", "python3"]);

/**
 * @param {ParentNode} root in which every code block gets its bar
 * @param {boolean} isFinished true if nothing will be added to the blocks
 */
export function frameCode(root, isFinished) {
  for (const pre of root.querySelectorAll("pre")) {
    if (pre.parentElement?.classList.contains("code")) continue;
    const code = pre.querySelector("code");
    const language = code?.getAttribute("data-language") ?? "";
    const block = document.createElement("div");
    block.className = "code";
    block.dir = "ltr";
    block.dataset.language = language;
    block.dataset.title = code?.getAttribute("data-title") ?? "";
    pre.replaceWith(block);
    pre.tabIndex = 0;
    pre.setAttribute("role", "group");
    pre.setAttribute("aria-label", language ? gettext("Code, {language}", { language }) : gettext("Code"));
    const lines = (pre.textContent ?? "").replace(/\n$/, "").split("\n");
    number(pre, lines.length);
    block.append(bar(block.dataset.title || language || "text", buttonsFor(language, lines, isFinished)), pre);
  }
}

/** @param {ParentNode} root in which code is colored, once the colors have been loaded */
export async function colourCode(root) {
  const blocks = [...root.querySelectorAll("pre > code[data-language]")];
  if (!blocks.length) return;
  const { default: colours } = await import("../../vendor/highlight.js");
  for (const code of blocks) {
    const language = code.getAttribute("data-language") ?? "";
    const text = code.textContent ?? "";
    if (!colours.getLanguage(language) || text.length > LONGEST) continue;
    code.removeAttribute("data-language");
    // The highlighter escapes its input.
    code.innerHTML = colours.highlight(text, { language, ignoreIllegals: true }).value;
  }
}

/** @param {Event} event a click somewhere in rendered Markdown */
export function useCode(event) {
  const button = event.target instanceof Element ? event.target.closest("button[data-code]") : null;
  const block = button?.closest(".code");
  if (!(button instanceof HTMLButtonElement) || !(block instanceof HTMLElement)) return;
  const act = button.dataset.code;
  if (act === "copy") void copyCode(button, codeOf(block));
  else if (act === "wrap") wrap(button, block);
  else if (act === "download") save(codeOf(block), fileNameOf(block.dataset, codeOf(block)));
  else if (act === "run") void import("./code-run.js").then(({ runOrStop }) => runOrStop(block, button));
  else if (act === "open" || act === "edit") void import("./artifact-panel.js").then(({ openBlock }) => openBlock(block, button, act));
}

/** @param {string} act @param {string} symbol @param {string} words @returns {HTMLButtonElement} that shows its symbol alone */
export function codeButton(act, symbol, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-button";
  button.dataset.code = act;
  button.title = words;
  const label = document.createElement("span");
  label.className = "visually-hidden";
  label.textContent = words;
  button.append(iconElement(symbol), label);
  return button;
}

/** @param {string} act @param {string} symbol @param {string} words */
function wordedButton(act, symbol, words) {
  const button = codeButton(act, symbol, words);
  button.querySelector("span")?.classList.remove("visually-hidden");
  button.removeAttribute("title");
  return button;
}

/** @param {string} language @param {string[]} lines @param {boolean} isFinished */
function buttonsFor(language, lines, isFinished) {
  const buttons = [];
  if (isFinished && SHOWN.has(language)) buttons.push(wordedButton("open", "eye", gettext("Preview")));
  if (isFinished && PYTHON.has(language) && document.getElementById("main")?.dataset.runsCode) buttons.push(wordedButton("run", "play", gettext("Run")));
  // Where a message can be written, and not in a shared conversation.
  if (isFinished && !SHOWN.has(language) && lines.length >= FEW_EDITED && document.querySelector("chat-composer")) {
    buttons.push(codeButton("edit", "pencil", gettext("Edit")));
  }
  if (lines.some((line) => line.length > LONG_LINE)) {
    const wrapping = codeButton("wrap", "text-wrap", gettext("Wrap lines"));
    wrapping.setAttribute("aria-pressed", "false");
    buttons.push(wrapping);
  }
  const copying = wordedButton("copy", "copy", gettext("Copy"));
  copying.querySelector("span")?.setAttribute("aria-live", "polite");
  return [...buttons, codeButton("download", "download", gettext("Download")), copying];
}

/** @param {string} words @param {HTMLButtonElement[]} buttons */
function bar(words, buttons) {
  const label = document.createElement("span");
  label.className = "code-language";
  label.textContent = words;
  const row = document.createElement("div");
  row.className = "code-bar";
  row.append(label, ...buttons);
  return row;
}

/** CSS draws the numbers, so that they are not copied. @param {HTMLPreElement} pre @param {number} lines */
function number(pre, lines) {
  if (lines <= FEW_LINES) return;
  pre.dataset.lines = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
}

/** @param {HTMLButtonElement} button @param {string} text */
async function copyCode(button, text) {
  const label = button.querySelector("span");
  if (!label) return;
  label.textContent = (await copy(text)) ? gettext("Copied") : gettext("Not copied");
  setTimeout(() => (label.textContent = gettext("Copy")), COPIED_FOR);
}

/** @param {HTMLButtonElement} button @param {HTMLElement} block */
function wrap(button, block) {
  const isWrapped = block.toggleAttribute("data-wrapped");
  button.setAttribute("aria-pressed", String(isWrapped));
}
