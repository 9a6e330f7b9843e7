/** The options at the caret: prompts, skills, commands, applications and files. */

import { get, post } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @import { Choice, ChoiceGroup, Sign } from "./caret-menu.js"
 * @import { OfferedModel } from "../session/offered-models.js"
 *
 * @typedef {{name: string, title: string, text: string, own: boolean}} Prompt
 * @typedef {{name: string, url: string, type: string, size: number}} RecentFile
 * @typedef {{name: string, title: string, detail: string, on: boolean}} ToolSwitch
 *
 * @typedef {object} Offered
 * @property {Prompt[]} prompts
 * @property {{name: string, detail: string}[]} skills
 * @property {{slug: string, title: string, detail: string}[]} applications
 * @property {RecentFile[]} files
 * @property {string[]} efforts the thinking efforts of the model
 * @property {string} effort the chosen effort, "" for the default
 * @property {OfferedModel[]} models that can be chosen, the application's own first
 * @property {string} model the ID of the chosen model, "" for the default
 * @property {ToolSwitch[]} tools toolsets that the user can turn on and off
 *
 * @typedef {{name: string, detail: string, icon: string, isOffered?: () => boolean, act: () => void}} Command
 * @typedef {{title: string, text: string}} Starter
 */

/** @type {Offered} */
const NOTHING = { prompts: [], skills: [], applications: [], files: [], efforts: [], effort: "", models: [], model: "", tools: [] };
/** Milliseconds for which fetched options are shown without a refresh. */
const FRESH = 30_000;

/** Dispatches `change`. */
export class Choices extends EventTarget {
  offered = NOTHING;
  /** @type {Starter[]} */
  starters = [];
  /** @type {Command[]} */
  commands = [];
  #base;
  #conversation;
  #fetchedAt = -Infinity;

  /** @param {() => string} base URL of the application @param {() => string | null} conversation its id */
  constructor(base, conversation) {
    super();
    this.#base = base;
    this.#conversation = conversation;
  }

  /** Newer options are shown when they arrive. */
  async load() {
    this.#fetchedAt = performance.now();
    const id = this.#conversation();
    const { model } = this.offered;
    const asked = new URLSearchParams(id ? { conversation: id } : model ? { deployment: model } : {});
    const found = await get(`${this.#base()}composer/?${asked}`);
    if (!found) {
      this.#fetchedAt = -Infinity; // The next menu tries again.
      return;
    }
    this.offered = found;
    this.dispatchEvent(new CustomEvent("change"));
  }

  /** @param {string} effort @returns {Promise<boolean>} true if it is stored */
  async choose(effort) {
    const id = this.#conversation();
    if (id && !(await post(`${this.#base()}${id}/effort/`, { effort }))) return false;
    this.offered = { ...this.offered, effort };
    this.dispatchEvent(new CustomEvent("change"));
    return true;
  }

  /** @param {string} deployment id of a model, "" for the default @returns {Promise<boolean>} true if it is stored */
  async chooseModel(deployment) {
    const id = this.#conversation();
    if (id && !(await post(`${this.#base()}${id}/deployment/`, { deployment }))) return false;
    this.offered = { ...this.offered, model: deployment };
    this.dispatchEvent(new CustomEvent("change"));
    void this.load(); // Another model may have other options.
    return true;
  }

  /** @param {string} name of a toolset @param {boolean} on @returns {Promise<boolean>} whether it is kept */
  async switchTool(name, on) {
    const id = this.#conversation();
    if (id && !(await post(`${this.#base()}${id}/tools/`, { tool: name, on: String(on) }))) return false;
    this.offered = { ...this.offered, tools: this.offered.tools.map((one) => (one.name === name ? { ...one, on } : one)) };
    this.dispatchEvent(new CustomEvent("change"));
    return true;
  }

  /** Another application has other models and tools. */
  forget() {
    this.offered = { ...this.offered, efforts: [], effort: "", models: [], model: "", tools: [] };
    this.dispatchEvent(new CustomEvent("change"));
  }

  /**
   * @param {Sign} sign
   * @param {{prompt: (prompt: Prompt) => void, application: (slug: string) => void, attach: (file: RecentFile) => void}} acts
   * @returns {ChoiceGroup[]}
   */
  groups(sign, acts) {
    if (performance.now() - this.#fetchedAt > FRESH) void this.load();
    if (sign === "@") return [{ title: gettext("Ask another app"), choices: this.#applications(acts.application) }];
    if (sign === "#") return [{ title: gettext("Attach a file"), choices: this.#files(acts.attach) }];
    return [
      { title: gettext("Your prompts"), choices: this.#prompts(true, acts.prompt) },
      { title: gettext("Shared prompts"), choices: this.#prompts(false, acts.prompt) },
      { title: gettext("Suggestions"), choices: this.starters.map(starterChoice) },
      { title: gettext("Skills"), choices: this.offered.skills.map(skillChoice) },
      { title: gettext("Commands"), choices: this.#commands() },
    ];
  }

  /** @returns {Choice[]} */
  #commands() {
    return this.commands
      .filter(({ isOffered }) => isOffered?.() ?? true)
      .map(({ name, detail, icon, act }) => ({ name, shown: `/${name}`, detail, icon, act }));
  }

  /** @param {boolean} own @param {(prompt: Prompt) => void} act @returns {Choice[]} */
  #prompts(own, act) {
    return this.offered.prompts
      .filter((prompt) => prompt.own === own)
      .map((prompt) => ({
        name: prompt.name,
        detail: prompt.title,
        icon: "pencil",
        act: () => act(prompt),
      }));
  }

  /** @param {(slug: string) => void} act @returns {Choice[]} */
  #applications(act) {
    return this.offered.applications.map(({ slug, title, detail }) => ({
      name: title,
      detail,
      icon: "external-link",
      act: () => act(slug),
    }));
  }

  /** @param {(file: RecentFile) => void} act @returns {Choice[]} */
  #files(act) {
    return this.offered.files.map((file) => ({
      name: file.name,
      detail: "",
      icon: file.type.startsWith("image/") ? "image" : "file-text",
      act: () => act(file),
    }));
  }
}

/** @param {Starter} starter @returns {Choice} */
function starterChoice({ title, text }) {
  return { name: title, detail: text, icon: "arrow-up", insert: text };
}

/** @param {{name: string, detail: string}} skill @returns {Choice} */
function skillChoice({ name, detail }) {
  return { name, detail, icon: "file-text", insert: `${gettext("Use the skill “{name}”:", { name })} ` };
}
