/** Code blocks: a bar with the language and a copy button, and colours for known languages. */

import { copy } from "./clipboard.js";
import { iconElement } from "./icons.js";

/** Colouring more than this many characters would stop the page for a moment. */
const LONGEST = 60_000;
const COPIED_FOR = 2_000;

/** @param {ParentNode} root in which every code block gets its bar */
export function frameCode(root) {
  for (const pre of root.querySelectorAll("pre")) {
    if (pre.parentElement?.classList.contains("code")) continue;
    const language = languageOf(pre);
    const block = document.createElement("div");
    block.className = "code";
    pre.replaceWith(block);
    pre.tabIndex = 0;
    block.dir = "ltr";
    pre.setAttribute("role", "group");
    pre.setAttribute("aria-label", language ? `Code, ${language}` : "Code");
    block.append(bar(language), pre);
  }
}

/** @param {ParentNode} root in which code is coloured, once the colours have been loaded */
export async function colourCode(root) {
  const blocks = [...root.querySelectorAll("pre > code[data-language]")];
  if (!blocks.length) return;
  const { default: colours } = await import("../vendor/highlight.js");
  for (const code of blocks) {
    const language = code.getAttribute("data-language") ?? "";
    const text = code.textContent ?? "";
    if (!colours.getLanguage(language) || text.length > LONGEST) continue;
    code.removeAttribute("data-language");
    // The colours escape what they are given.
    code.innerHTML = colours.highlight(text, { language, ignoreIllegals: true }).value;
  }
}

/** @param {Event} event a click somewhere in rendered Markdown */
export async function copyCode(event) {
  const target = event.target instanceof Element ? event.target : null;
  const button = target?.closest("button.code-copy");
  const code = button?.closest(".code")?.querySelector("pre");
  if (!(button instanceof HTMLButtonElement) || !code) return;
  const label = button.querySelector("span");
  if (!label) return;
  label.textContent = (await copy((code.textContent ?? "").replace(/\n$/, ""))) ? "Copied" : "Not copied";
  setTimeout(() => (label.textContent = "Copy"), COPIED_FOR);
}

/** @param {string} language */
function bar(language) {
  const label = document.createElement("span");
  label.className = "code-language";
  label.textContent = language || "text";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  const text = document.createElement("span");
  text.textContent = "Copy";
  text.setAttribute("aria-live", "polite");
  button.append(iconElement("copy"), text);
  const row = document.createElement("div");
  row.className = "code-bar";
  row.append(label, button);
  return row;
}

/** @param {Element} pre */
function languageOf(pre) {
  return pre.querySelector("code")?.getAttribute("data-language") ?? "";
}
