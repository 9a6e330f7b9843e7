// The embedded editor. It saves when the page that embeds it sends a message, and reports its state to that page.

import { Host } from "./host.js";
import { part } from "../parts.js";

/**
 * @typedef {{error?: string, version?: string, signed_out?: boolean, has_changes?: boolean}} Answer
 */

const { state, name } = document.body.dataset;
const host = new Host(JSON.parse(part(document, "#origins", HTMLScriptElement).text), name);

class Editing {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.manifest = part(form, "[name=manifest]", HTMLTextAreaElement);
    this.version = part(form, "[name=seen_version]", HTMLInputElement);
    this.token = part(form, "[name=csrfmiddlewaretoken]", HTMLInputElement);
    this.problem = part(form, "[data-problem]", HTMLElement);
    this.status = part(form, "[data-saved]", HTMLElement);
    this.signIn = part(form, "[data-sign-in]", HTMLElement);
    this.button = part(form, "button[type=submit]", HTMLButtonElement);
    this.saved = this.manifest.value;
    this.isDirty = false;
    this.isAsked = false;
    this.done = Promise.resolve(true);
  }

  start() {
    this.manifest.addEventListener("input", () => this.compare());
    // Handled after the manifest's editor, which writes its last edit into the text.
    document.addEventListener("submit", (event) => this.submitted(event));
    host.listen({
      TRIGGER_SAVE: ({ general }) => this.save({ general }),
      TRIGGER_AUTO_SAVE: ({ ignoreDirty }) => this.autoSave(ignoreDirty),
      RESET: () => window.location.reload(),
    });
  }

  /** @param {SubmitEvent} event */
  submitted(event) {
    if (event.target !== this.form) return;
    event.preventDefault();
    if (!this.isAsked) this.save({}).then((saved) => saved && host.announce("updatedApplicationSuccess"));
  }

  /** @param {boolean} ignoreDirty */
  async autoSave(ignoreDirty) {
    this.finishEdit();
    if (this.isDirty || ignoreDirty) await this.save({});
    host.say("AUTO_SAVE_COMPLETE");
  }

  /**
   * Saves run one at a time, because each needs the version that the previous one created.
   * @param {{general?: unknown}} asked @returns {Promise<boolean>} true if it is stored
   */
  save({ general }) {
    this.finishEdit();
    this.done = this.done.then(() => this.send(general));
    return this.done;
  }

  // A field reports its value when it loses focus, which does not happen if a message triggers the save.
  finishEdit() {
    document.activeElement?.dispatchEvent(new Event("change", { bubbles: true }));
    this.isAsked = true;
    this.form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
    this.isAsked = false;
    this.compare();
  }

  /** @param {unknown} general */
  async send(general) {
    const text = this.manifest.value;
    this.button.disabled = true;
    this.status.textContent = "Saving…";
    const answer = await this.post(text, general);
    this.button.disabled = false;
    if (answer.version) this.version.value = answer.version;
    this.show(answer);
    if (answer.error) {
      if (answer.signed_out) host.announce("loggedOut");
      host.say("SAVE_ERROR", { error: answer.error });
      return false;
    }
    this.saved = text;
    this.compare();
    host.say("SAVE_SUCCESS", { hasChanges: answer.has_changes });
    return true;
  }

  /** @param {string} text @param {unknown} general @returns {Promise<Answer>} */
  async post(text, general) {
    this.renewToken();
    const body = new FormData();
    body.set("manifest", text);
    body.set("seen_version", this.version.value);
    body.set("csrfmiddlewaretoken", this.token.value);
    if (general) body.set("general", JSON.stringify(general));
    try {
      const response = await fetch(window.location.href, { method: "POST", body });
      return await response.json();
    } catch {
      return { error: "The server returned an unexpected response. Your input is not lost; save again." };
    }
  }

  // Signing in from the other window creates a new token.
  renewToken() {
    const [, token] = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) ?? [];
    if (token) this.token.value = token;
  }

  /** @param {Answer} answer */
  show({ error, signed_out: isSignedOut, has_changes: hasChanges }) {
    this.problem.hidden = !error;
    this.problem.textContent = error ?? "";
    this.signIn.hidden = !isSignedOut;
    this.status.textContent = error ? "Not saved." : hasChanges ? "Saved." : "There were no changes.";
    if (error) this.problem.scrollIntoView({ block: "nearest" });
  }

  compare() {
    const isDirty = compact(this.manifest.value) !== compact(this.saved);
    if (isDirty === this.isDirty) return;
    this.isDirty = isDirty;
    this.status.textContent = isDirty ? "Not saved yet." : this.status.textContent;
    host.say("DIRTY_STATE", { isDirty });
  }
}

/** Removes the layout of a manifest, because reformatting is not a change. @param {string} text */
function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function followSystem() {
  const root = document.documentElement;
  if (root.dataset.theme) return;
  const isDark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => root.classList.toggle("dark", isDark.matches);
  isDark.addEventListener("change", apply);
  apply();
}

function tellHeight() {
  let told = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    host.say("HEIGHT_CHANGE", { height });
  }).observe(document.documentElement);
}

// When the user returns from signing in, the page checks again.
function lookAgain() {
  document.querySelector("[data-sign-in] a[target]")?.addEventListener("click", () => {
    window.addEventListener("focus", () => window.location.reload(), { once: true });
  });
}

followSystem();
tellHeight();
if (state === "open") {
  const form = part(document, "[data-editor]", HTMLFormElement);
  new Editing(form).start();
  form.addEventListener("manifest-editor-ready", () => host.announce("readyToSave"), { once: true });
} else {
  lookAgain();
  host.listen({
    TRIGGER_SAVE: () => host.say("SAVE_ERROR", { error: part(document, "main p", HTMLElement).textContent }),
    TRIGGER_AUTO_SAVE: () => host.say("AUTO_SAVE_COMPLETE"),
    RESET: () => window.location.reload(),
  });
  if (state === "signed-out") host.announce("loggedOut");
}
host.announce("readyToInteract");
host.say("READY");
