// One field for any pasted source: a URL, a curl command, an OpenAPI document, a SKILL.md.

import { reasonOf } from "../../parts.js";
import { element, newId } from "../elements.js";
import { ask, commandFound, serverFound, serviceFound } from "./found.js";
import { askServer } from "./server-tools.js";
import { freeName } from "./paths.js";
import { readSkill } from "../skill-text.js";

/**
 * @import { Choices } from "../data.js"
 * @import { Store } from "../store.js"
 * @import { Done } from "./found.js"
 *
 * @typedef {{parts?: Iterable<Node>, said?: string, isDone?: boolean}} Recognized
 */

const ADDRESS = /^https?:\/\/\S+$/i;
const DOCUMENT = /openapi|swagger|\.(?:json|ya?ml)(?:$|\?)/i;

/** `done` is the same as for the other sources. @param {Store} store @param {Choices} choices @param {Done} done */
export function pasteField(store, choices, done) {
  const id = newId("paste");
  const text = element("textarea", { id, rows: 1, spellcheck: false, autocomplete: "off", class: "studio-paste", placeholder: "https://… or curl …", "aria-describedby": `${id}-help` });
  const status = element("p", { role: "status", class: "studio-status" });
  const place = element("div", { class: "studio-inner" });
  /** @param {Iterable<Node>} parts */
  const show = (parts) => place.replaceChildren(...parts);
  /** @param {string} said */
  const tell = (said, isBad = false) => {
    status.textContent = said;
    status.classList.toggle("studio-error", isBad);
  };
  let reading = 0;
  const read = async () => {
    const typed = text.value.trim();
    if (!typed) return;
    reading += 1;
    const mine = reading;
    place.replaceChildren();
    tell("Reading…");
    try {
      const found = await recognized(store, choices, typed, done);
      if (mine !== reading) return;
      if (found.parts) show(found.parts);
      tell(found.said ?? "");
      if (found.isDone) text.value = "";
    } catch (error) {
      if (mine === reading) tell(reasonOf(error), true);
    }
  };
  text.addEventListener("paste", () => setTimeout(read));
  text.addEventListener("keydown", (event) => {
    // Text with several lines is pasted; Enter is for a typed URL.
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    void read();
  });
  return element(
    "div",
    { class: "studio-field", "data-paste": "" },
    element("label", { htmlFor: id }, "Paste a URL or text"),
    text,
    element("p", { class: "studio-help", id: `${id}-help` }, "The URL of an MCP server or OpenAPI document, an OpenAPI document, a curl command, or a SKILL.md. Press Enter to read it. To upload files, drop them anywhere in the studio."),
    status,
    place,
  );
}

/**
 * Recognizes the text. Returns `parts` to choose from, or the message `said` if `isDone` is true.
 * @param {Store} store @param {Choices} choices @param {string} text @param {Done} done @returns {Promise<Recognized>}
 */
async function recognized(store, choices, text, done) {
  if (text.startsWith("---")) return takeSkill(store, `${text}\n`);
  if (/^curl\s/.test(text)) return { parts: commandFound(store, choices.secrets, await ask(store, "curl", { text }), done) };
  if (!ADDRESS.test(text)) return { parts: serviceFound(await ask(store, "openapi", { text }), choices.secrets, done) };
  /** @returns {Promise<Recognized>} */
  const asDocument = async () => ({ parts: serviceFound(await ask(store, "openapi", { url: text }), choices.secrets, done) });
  /** @returns {Promise<Recognized>} */
  const asServer = async () => {
    const found = await askServer(store, { url: text });
    return { parts: serverFound(found, done), said: found.message };
  };
  const attempts = [
    { what: "MCP server", read: asServer },
    { what: "OpenAPI document", read: asDocument },
  ];
  if (DOCUMENT.test(text)) attempts.reverse();
  const failures = [];
  for (const { what, read } of attempts) {
    try {
      return await read();
    } catch (error) {
      failures.push({ what, reason: reasonOf(error).replace(/[^.]$/, "$&.") });
    }
  }
  const [likely, other] = failures;
  // If the host cannot be reached, the format does not matter.
  if (likely.reason.includes(other.reason)) throw new Error(likely.reason);
  throw new Error(`No tools were found at this URL. ${failures.map(({ what, reason }) => `${what}: ${reason}`).join(" ")}`);
}

/** @param {Store} store @param {string} text */
function takeSkill(store, text) {
  const skill = readSkill(text);
  if (!skill?.name) throw new Error("The front matter between the two lines of --- has no name; add name: and description: there.");
  const name = freeName(skill.name, Object.keys(store.skills), "-");
  store.name({ skills: { ...store.skills, [name]: { "SKILL.md": text } } });
  return { said: `The skill ${name} was added under Skills.`, isDone: true };
}
