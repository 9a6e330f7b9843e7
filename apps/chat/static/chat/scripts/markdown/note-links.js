/** Links between notes in Markdown, `[[title]]` and `[[words|title]]`. */

import { csrfToken } from "../requests.js";
import { gettext } from "../texts.js";

const PATTERN = /^\[\[(?:([^[\]|\n]{1,500})\|)?([^[\]|\n]{1,200})\]\]/;

/** @type {Map<string, string>} addresses by title, "" for a title without a note */
const known = new Map();

/** The marked extension for note links. Until their targets are known, they are shown as written. */
export const noteLinks = {
  name: "noteLink",
  level: /** @type {const} */ ("inline"),
  /** @param {string} text */
  start: (text) => {
    const found = text.indexOf("[[");
    return found < 0 ? undefined : found;
  },
  /** @param {string} text */
  tokenizer: (text) => {
    const match = PATTERN.exec(text);
    return match?.[2].trim() ? { type: "noteLink", raw: match[0], title: match[2].trim() } : undefined;
  },
  /** @param {{raw: string, title: string}} token */
  renderer: ({ raw, title }) => `<span data-note="${escapeText(title)}">${escapeText(raw)}</span>`,
};

/** @param {ParentNode} root in which links to notes are replaced, for users who have notes */
export async function showNotes(root) {
  const { notes: address, newNote } = /** @type {HTMLElement | null} */ (document.querySelector("[data-notes]"))?.dataset ?? {};
  const places = address ? [...root.querySelectorAll("span[data-note]")] : [];
  if (!places.length || !address) return;
  await find(address, places.map(titleOf));
  for (const place of places) {
    const found = known.get(titleOf(place));
    if (found) place.replaceWith(linkTo(found, wordsOf(place)));
    else if (newNote && found === "") place.replaceWith(missing(newNote, place));
  }
}

/** @param {string} address @param {string[]} titles */
async function find(address, titles) {
  const asked = [...new Set(titles)].filter((title) => !known.has(title)).slice(0, 200);
  if (!asked.length) return;
  const body = new URLSearchParams([...asked.map((title) => ["title", title]), ["csrfmiddlewaretoken", csrfToken()]]);
  try {
    const response = await fetch(address, { method: "POST", body });
    if (!response.ok) return;
    const told = (await response.json()).known;
    for (const title of asked) known.set(title, told[title] ?? "");
  } catch {
    // Without a connection, links are shown as written.
  }
}

/** @param {Element} place */
function titleOf(place) {
  return place.getAttribute("data-note") ?? "";
}

/** @param {Element} place */
function wordsOf(place) {
  return PATTERN.exec(place.textContent ?? "")?.[1]?.trim() || titleOf(place);
}

/** @param {string} address @param {string} words */
function linkTo(address, words) {
  const link = document.createElement("a");
  link.className = "note-link";
  link.href = address;
  link.textContent = words;
  return link;
}

/** @param {string} newNote the address of the form @param {Element} place */
function missing(newNote, place) {
  const link = linkTo(`${newNote}?${new URLSearchParams({ title: titleOf(place) })}`, wordsOf(place));
  link.classList.add("missing");
  link.title = gettext("This note doesn’t exist yet");
  const hint = document.createElement("span");
  hint.className = "visually-hidden";
  hint.textContent = ` ${gettext("(create this note)")}`;
  link.append(hint);
  return link;
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}
