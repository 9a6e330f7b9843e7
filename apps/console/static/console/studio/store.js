// The draft that is being edited: one manifest, which all sections of the studio read and change.

import { split } from "../manifest/paths.js";

/**
 * @import { Choices, Draft, DraftFinding, Json, Occasion, PageData, State, Stored } from "./data.js"
 */

const SETTLE_MS = 400;
const GONE = "You no longer have a role in this application, so you cannot change it.";

/** Fetches JSON from the server. @param {string} address @returns {Promise<any>} */
export const fetchJson = async (address) => (await fetchOwn(address)).json();

/** Rejects a redirect, for example after the user signed out. @param {string} address */
export async function fetchOwn(address) {
  const response = await fetch(address);
  if (!response.ok || response.redirected) throw new Error(`${response.status} for ${address}`);
  return response;
}

/** JSON with sorted keys, because databases sort the keys of a manifest. @param {unknown} value @returns {string} */
export const canonical = (value) =>
  JSON.stringify(value, (_, one) =>
    one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );

export class Store {
  /** @type {Set<{listener: (what: Occasion) => void, owner: Node | null}>} */
  #listeners = new Set();
  #settling = 0;
  /** @type {Json} */
  manifest = {};
  title = "";
  description = "";
  icon = "";
  /** @type {Draft["skills"]} */
  skills = {};
  version = 0;
  /** The stored draft. @type {Draft} */
  base = this.current;
  /** @type {State} */
  state;
  /** @type {DraftFinding[]} */
  findings = [];
  isChecked = false;
  /** Typed manifest text that is not JSON, and therefore not part of the draft. */
  unread = "";
  /** @type {Promise<Choices> | undefined} */
  asked;
  /** Shows a result or an error in the bar. @type {(text: string, isBad?: boolean) => void} */
  say = () => {};

  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.state = data.state;
    this.keep(data);
  }

  /** Continue with the draft that the server has stored. @param {Stored} stored */
  keep({ manifest, title, description, icon, skills, version, state }) {
    Object.assign(this, { manifest, title, description, icon, skills, version, state });
    this.base = structuredClone(this.current);
  }

  /**
   * The server has stored `draft`: typed changes stay, and count as changes where they differ.
   * @param {{version: number, state: State}} stored @param {Draft} draft
   */
  keepTyped({ version, state }, draft) {
    Object.assign(this, { version, state });
    this.base = structuredClone(draft);
  }

  /** @returns {Draft} */
  get current() {
    const { manifest, title, description, icon, skills } = this;
    return { manifest, title, description, icon, skills };
  }

  get isChanged() {
    return JSON.stringify(this.current) !== JSON.stringify(this.base);
  }

  /** The value at a path such as `tool_sets[0].name`; undefined if there is none. @param {string} path @returns {any} */
  get(path) {
    return split(path).reduce((/** @type {any} */ value, part) => value?.[part], this.manifest);
  }

  /**
   * Set the value at a path, and create missing objects around it; undefined removes it.
   * @param {string} path @param {unknown} value
   */
  change(path, value) {
    const parts = split(path);
    const last = parts.pop();
    if (last === undefined) return;
    /** @type {any} */
    let around = this.manifest;
    for (const [index, part] of parts.entries()) {
      if (around[part] === null || typeof around[part] !== "object") {
        if (value === undefined) return; // There is nothing to remove.
        around[part] = typeof (parts[index + 1] ?? last) === "number" ? [] : {};
      }
      around = around[part];
    }
    if (value !== undefined) around[last] = value;
    else if (Array.isArray(around)) around.splice(Number(last), 1);
    else delete around[last];
    this.#edited();
  }

  /** Replace the manifest, with typed text or the server's merged version. @param {Json} manifest */
  replace(manifest) {
    this.manifest = manifest;
    this.#edited();
  }

  /** Set the values next to the manifest: title, description, icon, skills. @param {Partial<Draft>} values */
  name(values) {
    Object.assign(this, values);
    this.#edited();
  }

  /** @param {DraftFinding[]} findings */
  found(findings) {
    this.findings = findings;
    this.isChecked = true;
    this.tell("findings");
  }

  /**
   * The findings at a path or, unless `isExact`, below it. The paths of a skill are the paths of its files.
   * @param {string} path
   */
  findingsAt(path, isExact = false) {
    const below = [".", "[", "/"].map((mark) => `${path}${mark}`);
    return this.findings.filter(
      ({ path: place }) => place === path || (!isExact && below.some((start) => place.startsWith(start))),
    );
  }

  /**
   * `listener(what)` is called with "change", "settled" (a pause in typing), "findings", "stored" (another draft is stored), "saved" (the typed draft is stored) and "choices" (others are available). A listener with an `owner` is removed when that element has left the page.
   * @param {(what: Occasion) => void} listener @param {Node | null} owner
   */
  subscribe(listener, owner = null) {
    const entry = { listener, owner };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** @param {Occasion} what */
  tell(what) {
    for (const entry of this.#listeners) {
      if (entry.owner && !entry.owner.isConnected) this.#listeners.delete(entry);
      else entry.listener(what);
    }
  }

  /** The available choices: deployments, prompts, skills, files, secrets, servers. @returns {Promise<Choices>} */
  choices() {
    this.asked ??= fetchJson(this.data.urls.choices).catch((error) => {
      this.asked = undefined; // The next section requests them again.
      throw error;
    });
    return this.asked;
  }

  /** Requests the choices again, because another tab may have added some. All fields share the object of the choices. */
  async renewChoices() {
    const known = await this.asked?.catch(() => undefined);
    if (!known) return;
    const found = await fetchJson(this.data.urls.choices).catch(() => known);
    if (canonical(found) === canonical(known)) return;
    Object.assign(known, found);
    this.tell("choices");
  }

  /**
   * Save a value that is not part of the draft: access, or the name in URLs. Returns true if it is saved.
   * @param {string} name @param {object} body
   */
  async saveAtOnce(name, body) {
    this.say("Saving…");
    const response = await this.send(name, body).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (!response?.ok || !answer) {
      this.say(answer?.message ?? (response?.status === 404 ? GONE : "Saving failed. Try again."), true);
      return false;
    }
    if (answer.left) {
      location.assign(answer.left); // the user no longer has a role in the application
      return false;
    }
    const { access, state, slug, chat } = answer;
    Object.assign(this.data, { access, slug });
    this.data.urls.chat = chat;
    this.state = state;
    this.tell("change");
    this.say("Saved.");
    return true;
  }

  /** POST JSON to one of the page's URLs. @param {string} name @param {object} body @param {AbortSignal} [signal] */
  async send(name, body, signal) {
    return fetch(this.data.urls[name], {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.data.csrf },
      body: JSON.stringify(body),
      signal,
    });
  }

  #edited() {
    this.tell("change");
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.tell("settled"), SETTLE_MS);
  }
}
