// The manifest in the embedded editor: a text area with two editors on top, which share one value.
//
// The text area is submitted and always holds the value; without scripts, it is the editor.

import { Findings } from "./findings.js";
import { part, parts } from "../parts.js";

/**
 * @import { PlacedFinding } from "./findings.js"
 * @import { FormMode } from "./form-mode.js"
 * @import { TextMode } from "./text-mode.js"
 */

const LARGE_CHARACTERS = 60_000; // Above this size, building the form takes seconds.
const CHECK_DELAY_MS = 600;
const REMEMBERED = "manifest-editor-mode";

class ManifestEditor {
  /** @type {Promise<void>} */
  switched = Promise.resolve();
  /** @type {{form: object, schema: object} | undefined} */
  schemas;
  /** @type {FormMode | undefined} */
  form;
  /** @type {TextMode | undefined} */
  text;
  mode = "";
  timer = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.textarea = part(root, "textarea", HTMLTextAreaElement);
    this.tabs = parts(root, "[data-mode]", HTMLElement);
    this.panels = {
      form: part(root, "[data-form]", HTMLElement),
      text: part(root, "[data-text]", HTMLElement),
    };
    this.panels.text.setAttribute("role", "tabpanel");
    this.panels.text.setAttribute("aria-labelledby", this.tabs[1].id);
    this.status = part(root, "[data-status]", HTMLElement);
    this.notice = part(root, "[data-notice]", HTMLElement);
    this.findings = new Findings(root, (finding) => this.goTo(finding));
  }

  async start() {
    this.switched = this.load();
    await this.switched;
    if (!this.schemas) return; // The text area stays.
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.switchTo(tab.dataset.mode));
      tab.addEventListener("keydown", (event) => this.moveBetweenTabs(event, tab));
    }
    part(this.root, "[data-bar]", HTMLElement).hidden = false;
    this.textarea.form?.addEventListener("submit", () => this.finishEdit());
    await this.switchTo(this.firstMode());
    await this.check();
  }

  async load() {
    const response = await fetch(this.root.dataset.schemaUrl ?? "").catch(() => null);
    if (response?.ok) this.schemas = await response.json();
  }

  firstMode() {
    const chosen = remembered() ?? "form";
    return this.textarea.value.length > LARGE_CHARACTERS ? "text" : chosen;
  }

  /**
   * Editors open one at a time: opening one takes a moment, and another may be requested in the meantime.
   * @param {string | undefined} mode
   */
  switchTo(mode) {
    this.switched = this.switched.then(() => this.open(mode));
    return this.switched;
  }

  /** @param {string | undefined} wanted */
  async open(wanted) {
    this.finishEdit();
    this.lock(true);
    this.say("");
    const mode = wanted === "form" && (await this.openForm()) ? "form" : "text";
    if (mode === "text") await this.openText();
    this.mode = mode;
    remember(mode);
    for (const tab of this.tabs) {
      const isChosen = tab.dataset.mode === mode;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    for (const [name, panel] of Object.entries(this.panels)) panel.hidden = name !== mode;
    this.lock(false);
    this.show();
  }

  /** Prevents typing into an editor that is about to be replaced. @param {boolean} isLocked */
  lock(isLocked) {
    for (const panel of Object.values(this.panels)) panel.inert = isLocked;
  }

  // The form reports an edit a frame later, but Enter in a field submits before that.
  finishEdit() {
    if (this.mode === "form") this.form?.changed();
  }

  // Returns false if the text is not a JSON object, which a form cannot show.
  async openForm() {
    let manifest = null;
    try {
      manifest = JSON.parse(this.textarea.value);
    } catch {
      this.say("The text is not valid JSON. The list below shows the position.");
    }
    if (manifest === null || typeof manifest !== "object" || Array.isArray(manifest)) return false;
    if (!this.form) {
      const { FormMode } = await import("./form-mode.js");
      this.form = new FormMode({
        panel: this.panels.form,
        schema: this.schemas?.form,
        onEdit: (/** @type {object} */ edited) => this.edited(`${JSON.stringify(edited, null, 2)}\n`),
      });
    }
    const missing = await this.form.show(manifest);
    if (missing.length) this.say(`The form cannot show ${listed(missing)}. Edit such values under Text.`);
    return true;
  }

  async openText() {
    if (!this.text) {
      const { TextMode } = await import("./text-mode.js");
      this.text = new TextMode({
        panel: this.panels.text,
        textarea: this.textarea,
        schema: this.schemas?.schema ?? {},
        onEdit: (text) => this.edited(text),
        check: (text) => this.checked(text),
      });
    }
    this.text.text = this.textarea.value;
  }

  /** @param {string} text */
  edited(text) {
    this.textarea.value = text;
    this.textarea.dispatchEvent(new Event("input", { bubbles: true }));
    if (this.mode === "text") return; // Its linter already checks the text.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_DELAY_MS);
  }

  async check() {
    await this.checked(this.textarea.value);
    this.text?.lintNow();
  }

  /** @param {string} text */
  async checked(text) {
    const findings = await this.findings.check(text);
    if (findings) this.show();
    return findings;
  }

  show() {
    this.status.textContent = this.findings.summary();
    if (this.mode === "form") this.form?.mark(this.findings.all);
  }

  /** @param {PlacedFinding} finding */
  async goTo(finding) {
    await this.switched;
    if (!this.schemas) this.textarea.focus();
    else if (this.mode === "form" && finding.path) this.form?.goTo(finding.path);
    else if (this.text && this.mode === "text") this.text.goTo(finding);
    else {
      await this.switchTo("text");
      this.text?.goTo(finding);
    }
  }

  /** @param {string} text */
  say(text) {
    this.notice.hidden = !text;
    this.notice.textContent = text;
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} tab */
  moveBetweenTabs(event, tab) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = (this.tabs.indexOf(tab) + step + 2) % 2;
    this.tabs[next].focus();
    this.switchTo(this.tabs[next].dataset.mode);
  }
}

/** @param {string[]} paths */
const listed = (paths) =>
  paths.length > 5 ? `${paths.slice(0, 5).join(", ")} and ${paths.length - 5} more` : paths.join(", ");

// In a frame on another site, browsers may refuse storage.
function remembered() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}

/** @param {string} mode */
function remember(mode) {
  try {
    localStorage.setItem(REMEMBERED, mode);
  } catch {
    // The next page starts with the form.
  }
}

for (const root of parts(document, "[data-manifest-editor]", HTMLElement)) {
  const tell = () => root.dispatchEvent(new Event("manifest-editor-ready", { bubbles: true }));
  new ManifestEditor(root).start().finally(tell);
}
