/** The pages, drawings and long code blocks of a conversation, with their versions. */

import { codeOf } from "./files.js";
import { gettext } from "../texts.js";

/**
 * @typedef {object} Artifact
 * @property {string} title
 * @property {string} language such as "html"
 * @property {string} text
 * @property {string} name the same for all versions in a conversation
 * @property {string} [written] the title next to the language
 * @property {"draft" | "sent"} [own] the state of a version of the user
 */

const FRAME = "html, body { margin: 0 } body { display: grid; min-height: 100vh; place-items: center; background: #fff } svg { max-width: 100%; max-height: 100vh; height: auto }";
/** A code block of a message: its fence, language, title and text. */
const BLOCK = /^(`{3,})([^\s`]+)(?: ([^\n`]*))?\n([\s\S]*?)\n\1$/gm;
/** @type {Record<string, string>} */
const NAMES = { html: gettext("Page"), svg: gettext("Drawing"), markdown: gettext("Text"), md: gettext("Text") };
const LONGEST_NAME = 60;
const PAGES = new Set(["html", "svg"]);

/** @param {HTMLElement} block of code @returns {Artifact} */
export function artifactOf(block) {
  return made(block.dataset.language ?? "", block.dataset.title ?? "", codeOf(block));
}

/** @param {string} language @param {string} written @param {string} text @returns {Artifact} */
export function made(language, written, text) {
  const inside = PAGES.has(language) ? /<title[^>]*>\s*([^<]{1,120}?)\s*<\/title>/i.exec(text)?.[1] : "";
  const title = written || inside || (NAMES[language] ?? gettext("Code"));
  // Code without a title could be anything.
  const name = `${language} ${written || PAGES.has(language) ? title : text}`.slice(0, LONGEST_NAME);
  return { title, language, text, name, written };
}

/** @param {HTMLElement} block @returns {{versions: Artifact[], at: number}} all of its kind and title in the conversation, including those that the user sent */
export function versionsOf(block) {
  const artifact = artifactOf(block);
  const conversation = block.closest("chat-log, main, body") ?? document;
  /** @type {Artifact[]} */
  const versions = [];
  let at = 0;
  for (const one of conversation.querySelectorAll(".code, chat-question")) {
    if (one === block) at = versions.length;
    const found = one instanceof HTMLElement && one.matches(".code") ? [artifactOf(one)] : sentIn(/** @type {any} */ (one).question?.text ?? "");
    versions.push(...found.filter(({ name }) => name === artifact.name));
  }
  return versions.length > at ? { versions, at } : { versions: [artifact], at: 0 };
}

/** @param {string} message of the user @returns {Artifact[]} */
function sentIn(message) {
  return [...message.matchAll(BLOCK)].map(([, , language, written = "", text]) => ({ ...made(language, written, text), own: "sent" }));
}

/** @param {Artifact} artifact @returns {boolean} whether it can be shown as something other than code */
export function hasPreview({ language }) {
  return language in NAMES;
}

/** @param {Artifact} artifact */
export function isPage({ language }) {
  return PAGES.has(language);
}

/** @param {Artifact} artifact @returns {string} the page that the frame shows */
export function pageOf({ language, text }) {
  return language === "svg" ? `<!doctype html><meta charset="utf-8"><style>${FRAME}</style>${text}` : text;
}

/** @param {Artifact} artifact @returns {string} a Markdown block that contains it */
export function blockOf({ language, written, text }) {
  const fence = "`".repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence}${language || "text"}${written ? ` ${written}` : ""}\n${text}\n${fence}`;
}
