// The draft as it is edited: one document, which every section of the studio reads and changes.

import { split } from "../paths.js";

const SETTLE_MS = 400;

export class Store {
  #listeners = new Set();
  #settling = 0;

  // `data` is what the page brings: document, title, description, icon, skills, version, urls and what
  // may be done.
  constructor(data) {
    this.data = data;
    this.findings = [];
    this.isChecked = false;
    this.keep(data);
  }

  // Take what the server has stored as what is edited from now on.
  keep({ document, title, description, icon, skills, version, state }) {
    Object.assign(this, { document, title, description, icon, skills, version, state });
    this.base = structuredClone(this.current);
  }

  get current() {
    const { document, title, description, icon, skills } = this;
    return { document, title, description, icon, skills };
  }

  get isChanged() {
    return JSON.stringify(this.current) !== JSON.stringify(this.base);
  }

  // The value at a path such as `tool_sets[0].name`; undefined where there is none.
  get(path) {
    return split(path).reduce((value, part) => value?.[part], this.document);
  }

  // Set the value at a path, and the objects around it where they are missing; undefined removes it.
  change(path, value) {
    const parts = split(path);
    const last = parts.pop();
    let around = this.document;
    parts.forEach((part, index) => {
      if (around[part] === null || typeof around[part] !== "object") {
        if (value === undefined) return;
        around[part] = typeof (parts[index + 1] ?? last) === "number" ? [] : {};
      }
      around = around[part];
    });
    if (value !== undefined) around[last] = value;
    else if (Array.isArray(around)) around.splice(last, 1);
    else delete around[last];
    this.#edited();
  }

  // Put another document in place of this one: what was typed as text, or merged by the server.
  replace(document) {
    this.document = document;
    this.#edited();
  }

  // Set what stands beside the document: title, description, icon, skills.
  name(values) {
    Object.assign(this, values);
    this.#edited();
  }

  found(findings) {
    this.findings = findings;
    this.isChecked = true;
    this.tell("findings");
  }

  // What was found at a path or, unless `isExact`, below it. Paths of skills are those of their files.
  findingsAt(path, isExact = false) {
    const below = [".", "[", "/"].map((mark) => `${path}${mark}`);
    return this.findings.filter(
      ({ path: place }) => place === path || (!isExact && below.some((start) => place.startsWith(start))),
    );
  }

  // `listener(what)` is told of "change", "settled" (nothing was typed for a moment), "findings" and
  // "stored". One with an `owner` is forgotten when that element has left the page.
  subscribe(listener, owner = null) {
    const entry = { listener, owner };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  tell(what) {
    for (const entry of this.#listeners) {
      if (entry.owner && !entry.owner.isConnected) this.#listeners.delete(entry);
      else entry.listener(what);
    }
  }

  // What there is to choose from: deployments, prompts, skills, files, secrets, servers.
  choices() {
    this.asked ??= fetch(this.data.urls.choices).then((response) => response.json());
    return this.asked;
  }

  // Ask for the choices again, after one was added.
  renewChoices() {
    this.asked = undefined;
    return this.choices();
  }

  // POST JSON to one of the page's addresses.
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
