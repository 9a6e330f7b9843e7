// A skill of this application only: its name, description and instructions, and its files.

import { button, cardHead, element, field, findings, focusOn } from "./elements.js";
import { freeName } from "./tools/paths.js";
import { readSkill, writeSkill } from "./skill-text.js";

/**
 * @import { Finding } from "./data.js"
 * @import { Skill } from "./skill-text.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {Record<string, string>} Texts of a skill's files, by path
 * @typedef {{store: Store, texts: () => Texts, set: (changed: Texts) => void, redraw: () => void}} Editing
 */

const FILE = "SKILL.md";
/** The start of a message about a field of the front matter. */
const FIELD = /^(name|description|front matter): /;

/** @param {string} name @returns {Texts} */
export const newSkill = (name) => ({ [FILE]: writeSkill({ name, description: "", rest: [], body: "" }) });

/**
 * `redraw` redraws the section after a skill or a file was added or removed.
 * @param {Store} store @param {string} name @param {() => void} redraw
 */
export function skillEditor(store, name, redraw) {
  const place = `skills/${name}`;
  const texts = () => store.skills[name];
  /** @param {Texts} changed */
  const set = (changed) => store.name({ skills: { ...store.skills, [name]: changed } });
  /** @param {string} path @param {string} text */
  const write = (path, text) => set({ ...texts(), [path]: text });
  const read = readSkill(texts()[FILE] ?? "");
  const remove = () => {
    const { [name]: _, ...others } = store.skills;
    store.name({ skills: others });
    redraw();
    focusOn("[data-write]");
  };
  /** @param {HTMLInputElement} input @param {Skill} skill */
  const rename = (input, skill) => {
    const next = input.value.trim();
    if (!next || next === name) return;
    input.setCustomValidity(next in store.skills ? `The skill ${next} already exists.` : "");
    if (!input.reportValidity()) return;
    const text = writeSkill({ ...skill, name: next });
    const entries = Object.entries(store.skills).map(([key, value]) => (key === name ? [next, { ...value, [FILE]: text }] : [key, value]));
    store.name({ skills: Object.fromEntries(entries) });
    redraw();
    focusOn(`[data-skill="${CSS.escape(next)}"] textarea`);
  };
  return element(
    "fieldset",
    { class: "studio-card", "data-skill": name },
    ...cardHead(`Skill ${name}`, button("Remove", remove, { "aria-label": `Remove the skill ${name}` })),
    findings(store, place, true),
    ...(read ? fields(store, place, read, (skill) => write(FILE, writeSkill(skill)), rename) : [asWhole(store, place, texts()[FILE] ?? "", (text) => write(FILE, text))]),
    ...Object.keys(texts()).filter((path) => path !== FILE).map((path) => fileEditor({ store, place, path, texts, set, redraw })),
    element("p", { class: "studio-actions" }, ...adders({ store, name, texts, set, redraw })),
  );
}

/**
 * @param {Store} store @param {string} place @param {Skill} skill @param {(skill: Skill) => void} write @param {(input: HTMLInputElement, skill: Skill) => void} rename
 */
function* fields(store, place, skill, write, rename) {
  /** @param {"description" | "body"} key @param {{rows: number, maxLength?: number, placeholder?: string}} properties */
  const bound = (key, properties) => {
    const control = element("textarea", { value: skill[key], autocomplete: "off", ...properties });
    control.addEventListener("input", () => {
      skill[key] = control.value;
      write(skill);
    });
    return control;
  };
  const name = element("input", { value: skill.name, autocomplete: "off", spellcheck: false, maxLength: 64 });
  name.addEventListener("change", () => rename(name, skill));
  const findingsPath = `${place}/${FILE}`;
  /** @param {Finding[]} found @param {string} key */
  const about = (found, key) => found.filter((one) => fieldOf(one) === key).map(asSentence);
  yield field(store, {
    label: "Name",
    control: name,
    findingsPath,
    shown: (found) => about(found, "name"),
    help: "Lowercase letters, digits and hyphens, such as tone-of-voice.",
  });
  const description = bound("description", { rows: 2, maxLength: 1024 });
  // A new skill has no description yet, which is not an error before the user has been in the field.
  let isTouched = Boolean(skill.description);
  for (const event of ["input", "blur"]) description.addEventListener(event, () => (isTouched = true));
  yield field(store, {
    label: "Description, and when to read it",
    control: description,
    findingsPath,
    shown: (found) => (isTouched ? about(found, "description") : []),
  });
  yield field(store, { label: "Instructions", path: findingsPath, shown: (found) => found.filter((one) => !["name", "description"].includes(fieldOf(one))).map(asSentence), control: bound("body", { rows: 8, placeholder: "Write short sentences …" }), help: "Markdown. The model reads them when a task needs the skill." });
}

/** @param {Finding} finding */
const fieldOf = ({ message }) => FIELD.exec(message)?.[1] ?? "";

/** @param {Finding} finding @returns {Finding} */
const asSentence = (finding) => ({ ...finding, message: skillSentence(finding.message) });

/** A message about a field of a skill as a sentence, without the syntax of the file. @param {string} message */
export const skillSentence = (message) =>
  FIELD.test(message) ? `${message.replace(FIELD, "The $1 ").replace(/; write '.*/, "").replace(/\.$/, "")}.` : message;

/** @param {Store} store @param {string} place @param {string} text @param {(text: string) => void} write */
function asWhole(store, place, text, write) {
  const control = element("textarea", { value: text, rows: 12, spellcheck: false });
  control.addEventListener("input", () => write(control.value));
  return field(store, { label: FILE, path: `${place}/${FILE}`, control, help: "Front matter with name and description between two lines of ---, then the instructions." });
}

/** @param {Editing & {place: string, path: string}} editing */
function fileEditor({ store, place, path, texts, set, redraw }) {
  const input = element("input", { value: path, autocomplete: "off", spellcheck: false });
  input.addEventListener("change", () => {
    const next = input.value.trim();
    if (!next || next === path) return;
    input.setCustomValidity(next in texts() ? `The file ${next} already exists.` : "");
    if (!input.reportValidity()) return;
    set(Object.fromEntries(Object.entries(texts()).map(([key, value]) => [key === path ? next : key, value])));
    redraw();
  });
  const control = element("textarea", { value: texts()[path], rows: 4, spellcheck: false });
  control.addEventListener("input", () => set({ ...texts(), [path]: control.value }));
  const remove = () => {
    const { [path]: _, ...others } = texts();
    set(others);
    redraw();
    focusOn("[data-write]");
  };
  return element(
    "details",
    { class: "studio-fold", open: !texts()[path] },
    element("summary", {}, element("code", {}, path)),
    field(store, { label: "Path", control: input, findingsPath: "" }),
    field(store, { label: "Text", path: `${place}/${path}`, control }),
    element("p", {}, button("Remove this file", remove, { "aria-label": `Remove ${path}` })),
  );
}

/** Adds a new file, or files from this computer. @param {Editing & {name: string}} editing */
function adders({ store, name, texts, set, redraw }) {
  const add = () => {
    const path = freeName("notes", Object.keys(texts()).map((one) => one.replace(/\.md$/, "")));
    set({ ...texts(), [`${path}.md`]: "" });
    redraw();
    focusOn(`[data-skill="${CSS.escape(name)}"] details:last-of-type input`);
  };
  const endings = store.data.skill_endings;
  const picker = element("input", { type: "file", multiple: true, hidden: true, accept: endings.join(",") });
  picker.addEventListener("change", async () => {
    const taken = await Promise.all([...(picker.files ?? [])].map(async (file) => [file.name, await file.text()]));
    set({ ...texts(), ...Object.fromEntries(taken) });
    redraw();
  });
  return [button("Add a file", add), button("Upload files", () => picker.click()), picker];
}
