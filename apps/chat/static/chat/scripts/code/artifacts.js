/** The pages and drawings in answers, with their versions. */

import { codeOf } from "./files.js";
import { gettext } from "../texts.js";

/**
 * @typedef {object} Artifact
 * @property {string} title
 * @property {string} language "html" or "svg"
 * @property {string} text
 */

const FRAME = "html, body { margin: 0 } body { display: grid; min-height: 100vh; place-items: center; background: #fff } svg { max-width: 100%; max-height: 100vh; height: auto }";

/** @param {HTMLElement} block of code @returns {Artifact} */
export function artifactOf(block) {
  const text = codeOf(block);
  const language = block.dataset.language ?? "html";
  const written = block.dataset.title || /<title[^>]*>\s*([^<]{1,120}?)\s*<\/title>/i.exec(text)?.[1] || "";
  return { title: written || (language === "svg" ? gettext("Drawing") : gettext("Page")), language, text };
}

/** @param {HTMLElement} block @returns {{versions: Artifact[], at: number}} all of its kind and title in the conversation */
export function versionsOf(block) {
  const { title, language } = artifactOf(block);
  const conversation = block.closest("chat-log, main, body") ?? document;
  const blocks = /** @type {HTMLElement[]} */ ([...conversation.querySelectorAll(`.code[data-language="${language}"]`)]);
  const same = blocks.filter((one) => one.querySelector("[data-code=open]") && artifactOf(one).title === title);
  return { versions: same.map(artifactOf), at: Math.max(0, same.indexOf(block)) };
}

/** @param {Artifact} artifact @returns {string} the page that the frame shows */
export function pageOf({ language, text }) {
  return language === "svg" ? `<!doctype html><meta charset="utf-8"><style>${FRAME}</style>${text}` : text;
}
