// The bar above everything: the state of the draft, and what can be done with it.

import { part } from "../parts.js";
import { button, element, link, newId } from "./elements.js";
import { PublishPanel } from "./publish-panel.js";

/**
 * @import { State, Stored } from "./data.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {{path: string, mine: string, theirs: string}} Clash
 */

export class Bar {
  /** @param {HTMLElement} root @param {Store} store */
  constructor(root, store) {
    this.store = store;
    this.state = element("span", { class: "studio-state" });
    this.checked = element("button", { type: "button", class: "studio-checked", onclick: () => this.list() });
    this.status = element("p", { role: "status", class: "studio-status", tabIndex: -1 });
    // It scrolls, so it takes the focus.
    this.details = element("div", { class: "studio-details", hidden: true, tabIndex: 0, role: "region", "aria-label": "About the draft" });
    const may = store.data.may_change;
    this.save = button("Save draft", () => this.saveDraft(), { title: "Ctrl+S" });
    this.discard = button("Discard", () => this.forget());
    this.publish = button("Publish…", () => this.goPublish(), { class: "workbench-button workbench-primary" });
    this.request = button("Request publishing…", () => this.goPublish(true), { class: "workbench-button workbench-primary" });
    this.notice = element("p", { class: "studio-notice", hidden: true });
    const actions = may ? [this.discard, this.save, this.request, this.publish] : [];
    this.title = part(root, "h1", HTMLHeadingElement);
    this.chat = link("Open in chat", store.data.urls.chat, { class: "workbench-button", target: "_blank" });
    root.append(
      element(
        "div",
        { class: "studio-bar-line" },
        ...[this.title, this.state, this.checked],
        element("div", { class: "studio-actions" }, this.toChat(), this.chat, ...actions),
      ),
      this.notice,
      this.status,
      this.details,
    );
    store.say = (text, isBad) => this.say(text, isBad);
    store.subscribe(() => this.show());
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "s" || !may) return;
      event.preventDefault();
      this.saveDraft();
    });
    this.show();
  }

  // On a phone the chat stands below the section.
  toChat() {
    const go = () => part(document, "#studio-question", HTMLElement).focus();
    return this.store.data.may_change ? button("Try it", go, { class: "workbench-button studio-to-chat" }) : "";
  }

  show() {
    const { state, isChanged, findings, isChecked, data } = this.store;
    const text = isChanged ? `${state.title} · unsaved` : state.title;
    this.title.textContent = this.store.title;
    this.state.textContent = text;
    this.state.dataset.state = isChanged ? "unsaved" : state.name;
    this.save.disabled = !isChanged;
    this.discard.disabled = !isChanged && !state.can_discard;
    const errors = findings.filter(({ severity }) => severity === "error").length;
    const warnings = findings.length - errors;
    const parts = [counted(errors, "mistake"), counted(warnings, "warning")].filter(Boolean);
    this.checked.hidden = !isChecked;
    this.checked.dataset.severity = errors ? "error" : warnings ? "warning" : "";
    this.checked.textContent = parts.join(", ") || "No mistakes";
    this.checked.disabled = !findings.length;
    this.chat.hidden = !state.number;
    const isSecond = state.takes_two && state.can_publish;
    this.publish.hidden = !data.may_publish || (state.takes_two && !isSecond);
    // A change withdraws the request, so whoever typed something cannot publish it.
    this.publish.disabled = errors > 0 || (state.takes_two ? isChanged : !(isChanged || state.can_publish));
    this.request.hidden = !state.takes_two || (state.is_requested === true && !isChanged);
    this.request.disabled = errors > 0 || !(isChanged || state.has_draft);
    this.showNotice(state);
    if (!this.details.hidden && this.details.dataset.what === "findings") this.fillFindings();
  }

  /** Who asks for publishing, or sent the draft back; and the live version to take over. @param {State} state */
  showNotice({ notice, take_over: address, number }) {
    const link = address ? element("a", { href: address }, `Take over the changes of version ${number}`) : "";
    this.notice.replaceChildren(notice, notice && link ? " " : "", link);
    this.notice.hidden = !notice && !link;
  }

  list() {
    const isOpen = !this.details.hidden && this.details.dataset.what === "findings";
    this.details.hidden = isOpen;
    if (!isOpen) this.fillFindings();
  }

  fillFindings() {
    this.details.dataset.what = "findings";
    if (!this.store.findings.length) {
      this.details.hidden = true;
      return;
    }
    this.details.replaceChildren(
      element(
        "ul",
        { "aria-label": "What was found in the draft" },
        ...this.store.findings.map(({ severity, path, message }) =>
          element(
            "li",
            { class: `studio-${severity}` },
            element("strong", {}, severity === "error" ? "Mistake " : "Warning "),
            element("code", {}, path || "$"),
            ` ${message}`,
          ),
        ),
      ),
    );
  }

  /** @param {string} text */
  say(text, isBad = false) {
    this.status.textContent = text;
    this.status.classList.toggle("studio-error", isBad);
  }

  /**
   * Save, merging what others saved meanwhile. Gives whether the draft is stored.
   * @param {Record<string, string>} choices by the paths of clashes
   */
  async saveDraft(choices = {}) {
    this.save.disabled = true;
    this.say("Saving…");
    const { version, base } = this.store;
    const current = structuredClone(this.store.current); // fields go on changing the document itself
    let response;
    try {
      response = await this.store.send("save", { ...current, version, base, choices });
    } catch {
      this.say("This server cannot be reached; nothing was saved. Try again.", true);
      this.save.disabled = false;
      return false;
    }
    const answer = await response.json().catch(() => ({}));
    if (response.status === 409) {
      this.ask(answer);
      return false;
    }
    if (!response.ok) {
      this.say(answer.message ?? `It could not be saved (status ${response.status}).`, true);
      if (answer.findings) this.store.found(answer.findings);
      this.save.disabled = false;
      return false;
    }
    const typedMeanwhile = JSON.stringify(this.store.current) !== JSON.stringify(current);
    const typed = structuredClone(this.store.current);
    this.store.keep(answer);
    if (typedMeanwhile) Object.assign(this.store, typed);
    this.details.hidden = true;
    this.say(answer.message);
    this.store.tell(typedMeanwhile ? "change" : "stored");
    return true;
  }

  /** Others changed the same places: let the person choose for each. @param {{message: string, clashes: Clash[]}} refusal */
  ask({ message, clashes }) {
    this.say(message, true);
    const fields = clashes.map(({ path, mine, theirs }) => {
      const name = newId("clash");
      /** @param {string} value @param {string} title @param {string} text */
      const choice = (value, title, text) => {
        const id = newId("choice");
        return element(
          "div",
          {},
          element("input", { type: "radio", name, id, value, checked: value === "mine" }),
          element("label", { htmlFor: id }, title),
          element("pre", {}, text),
        );
      };
      return element(
        "fieldset",
        { class: "studio-clash" },
        element("legend", {}, element("code", {}, path)),
        choice("mine", "Keep mine", mine),
        choice("theirs", "Take theirs", theirs),
      );
    });
    const done = button("Save with these choices", () => {
      const chosen = clashes.map(({ path }, index) => [path, part(fields[index], ":checked", HTMLInputElement).value]);
      this.saveDraft(Object.fromEntries(chosen));
    });
    this.details.dataset.what = "clashes";
    this.details.hidden = false;
    this.details.replaceChildren(...fields, done);
    this.save.disabled = false;
    fields[0]?.querySelector("input")?.focus();
  }

  async forget() {
    const { state } = this.store;
    const what = state.can_discard ? "the draft and what you changed" : "what you changed since it was saved";
    if (!window.confirm(`Discard ${what}?`)) return;
    const response = await this.store.send("discard", {}).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (!response?.ok || !answer) {
      this.say(answer?.message ?? "It could not be discarded. Try again.", true);
      return;
    }
    this.keep(answer);
  }

  /** @param {Stored & {message: string}} answer */
  keep(answer) {
    this.store.keep(answer);
    this.details.hidden = true;
    this.say(answer.message);
    this.store.tell("stored");
  }

  // Show what publishing would change, and ask for a note: for the version, or for somebody else.
  async goPublish(isRequest = false) {
    if (this.store.isChanged && !(await this.saveDraft())) return;
    const response = await this.store.send("difference", {}).catch(() => null);
    if (!response?.ok) {
      this.say("What would change cannot be told now. Try again.", true);
      return;
    }
    const { differences } = await response.json();
    this.say("");
    this.details.dataset.what = "publish";
    this.details.hidden = false;
    const { number, takes_two: takesTwo } = this.store.state;
    const panel = new PublishPanel(differences, number, {
      isRequest,
      send: (body) => (isRequest ? this.sendPublish("request", { ...body, version: this.store.version }) : this.sendPublish("publish", body)),
      sendBack: takesTwo && !isRequest ? (words) => this.sendPublish("return", { words }) : null,
      close: () => {
        this.details.hidden = true;
        (isRequest ? this.request : this.publish).focus();
      },
    });
    this.details.replaceChildren(panel.root);
    panel.note.focus();
  }

  /** @param {string} name @param {object} body @returns {Promise<{is_outdated?: boolean}>} */
  async sendPublish(name, body) {
    const response = await this.store.send(name, body).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (response?.ok && answer) {
      this.keep(answer);
      this.status.focus();
      return {};
    }
    if (answer?.findings?.length) {
      this.details.hidden = true;
      this.store.found(answer.findings);
    }
    this.say(answer?.message ?? "It could not be done. Try again.", true);
    return answer ?? {};
  }
}

/** @param {number} number @param {string} name */
const counted = (number, name) => (number ? `${number} ${name}${number === 1 ? "" : "s"}` : "");
