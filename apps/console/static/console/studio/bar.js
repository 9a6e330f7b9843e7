// The bar at the top: the state of the draft, which is saved automatically, and the actions.

import { part } from "../parts.js";
import { confirmed } from "./confirmation.js";
import { button, element, link, newId } from "./elements.js";
import { issueList } from "./issues.js";
import { PublishDialog } from "./publish-dialog.js";
import { canonical } from "./store.js";

/**
 * @import { Draft, State, Stored } from "./data.js"
 * @import { Refusal } from "./publish-dialog.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {{path: string, label: string, mine: string, theirs: string}} Clash
 */

const AUTOSAVE_MS = 1500;
const RETRY_MS = 10_000;
const GONE = "Not saved: the application was deleted, or you no longer have a role in it. Your changes are still in this tab: copy them from Text, or restore the application from its history and save again.";
/** @type {Record<string, string>} */
const SAVES = { "": "", waiting: "Not saved yet", saving: "Saving…", saved: "Saved", failed: "Saving failed" };

/** @typedef {"asked" | "typed" | "left"} Reason for a save: a button, a pause while typing, or leaving a field */

export class Bar {
  /** @type {keyof typeof SAVES} */
  progress = "";
  #timer = 0;
  #isHeld = false;
  /** Opens the field of a finding. @type {(path: string) => unknown} */
  goTo = () => {};
  /** The current or last save; the next one begins after it. @type {Promise<boolean>} */
  #saving = Promise.resolve(true);

  /** @param {HTMLElement} root @param {Store} store */
  constructor(root, store) {
    this.store = store;
    this.state = element("span", { class: "studio-state" });
    this.saved = element("span", { class: "studio-saved" });
    this.checked = element("button", { type: "button", class: "studio-checked", onclick: () => this.list() });
    this.status = element("p", { role: "status", class: "studio-status", tabIndex: -1 });
    // It scrolls, so it must be focusable.
    this.details = element("div", { class: "studio-details", hidden: true, tabIndex: 0, role: "region", "aria-label": "About the draft" });
    const may = store.data.may_change;
    this.save = button("Save draft", () => this.saveDraft(), { title: "Ctrl+S" });
    this.discard = button("Discard", () => this.forget());
    this.publish = button("Publish…", () => this.goPublish(), { class: "console-button console-primary" });
    this.request = button("Request publishing…", () => this.goPublish(true), { class: "console-button console-primary" });
    this.reason = element("span", { id: newId("reason") });
    const goToFirst = button("Go to the first error", () => this.goToFirstError(), { class: "" });
    this.blocked = element("p", { class: "studio-blocked", hidden: true }, this.reason, " ", goToFirst);
    this.notice = element("p", { class: "studio-notice", hidden: true });
    const unarchive = store.data.may_archive ? button("Unarchive", () => this.unarchive(), { class: "console-button" }) : "";
    this.archived = element("div", { class: "studio-archived console-notice console-caution", hidden: true }, element("p", {}, "This application is archived. Nobody can use it."), unarchive);
    this.dialog = new PublishDialog(store);
    this.title = part(document, ".page-path [aria-current]", HTMLElement);
    this.chat = link("Open in chat", store.data.urls.chat, { class: "console-button" });
    root.append(
      element(
        "div",
        { class: "studio-bar-line" },
        ...[this.state, this.saved, this.checked],
        element("div", { class: "studio-actions" }, this.toChat(), ...this.rest(), ...(may ? [this.request, this.publish] : [])),
      ),
      this.archived,
      this.blocked,
      this.notice,
      this.status,
      this.details,
    );
    store.say = (text, isBad) => this.say(text, isBad);
    store.subscribe((what) => {
      if (what === "change") this.schedule();
      this.show();
    });
    if (may) {
      document.addEventListener("focusout", () => this.#isHeld && this.saveDraft({}, "left"));
      document.addEventListener("visibilitychange", () => document.hidden && this.autosave());
    }
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "s" || !may) return;
      event.preventDefault();
      this.saveDraft();
    });
    this.show();
  }

  // On a phone, the chat is a sheet above the page.
  toChat() {
    const go = () => {
      const chat = part(document, "[data-chat]", HTMLElement);
      chat.popover = "auto";
      chat.showPopover();
      part(chat, "#studio-question", HTMLElement).focus();
    };
    return this.store.data.may_change ? button("Try it", go, { class: "console-button studio-to-chat" }) : "";
  }

  // Actions that few users need; on a phone, a button opens them.
  rest() {
    const id = newId("rest");
    const may = this.store.data.may_change;
    const list = element("div", { class: "studio-rest", id }, ...(may ? [this.save, this.discard] : []), this.chat);
    /** @param {boolean} isOpen */
    const toggle = (isOpen) => {
      list.toggleAttribute("data-open", isOpen);
      more.setAttribute("aria-expanded", String(isOpen));
    };
    const more = button("⋯", () => toggle(!list.hasAttribute("data-open")), {
      class: "console-button studio-more",
      "aria-label": "More actions",
      "aria-expanded": "false",
      "aria-controls": id,
    });
    document.addEventListener("click", ({ target }) => target !== more && toggle(false));
    list.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape") return;
      toggle(false);
      more.focus();
    });
    return [list, more];
  }

  show() {
    const { state, isChanged, findings, isChecked, data } = this.store;
    this.title.textContent = this.store.title;
    this.state.textContent = state.title;
    this.state.dataset.state = state.name;
    this.saved.textContent = SAVES[this.progress];
    this.saved.dataset.progress = this.progress;
    this.save.disabled = !isChanged || this.progress === "saving";
    const isArchived = state.name === "archived";
    this.archived.hidden = !isArchived;
    this.discard.hidden = isArchived;
    this.discard.disabled = !isChanged && !state.can_discard;
    const errors = findings.filter(({ severity }) => severity === "error").length;
    const warnings = findings.length - errors;
    const parts = [counted(errors, "error"), counted(warnings, "warning")].filter(Boolean);
    this.checked.hidden = !isChecked;
    this.checked.dataset.severity = errors ? "error" : warnings ? "warning" : "";
    this.checked.textContent = parts.join(", ") || data.publishing.no_issues;
    this.checked.disabled = !findings.length;
    this.chat.hidden = isArchived || !state.number;
    this.chat.href = data.urls.chat;
    const isSecond = state.takes_two && state.can_publish;
    this.publish.hidden = isArchived || !data.may_publish || (state.takes_two && !isSecond);
    // A change withdraws the request, so users with unsaved changes cannot publish it.
    this.publish.disabled = !errors && (state.takes_two ? isChanged : !(isChanged || state.can_publish));
    this.request.hidden = isArchived || !state.takes_two || (state.is_requested === true && !isChanged);
    this.request.disabled = !errors && !(isChanged || state.has_draft);
    this.showBlocked(errors);
    this.showNotice(state);
    if (!this.details.hidden && this.details.dataset.what === "findings") this.fillFindings();
  }

  /** While there are errors, the buttons remain focusable, and lead to the first error. @param {number} errors */
  showBlocked(errors) {
    for (const one of [this.publish, this.request]) {
      for (const [name, value] of [["aria-disabled", "true"], ["aria-describedby", this.reason.id]]) {
        if (errors) one.setAttribute(name, value);
        else one.removeAttribute(name);
      }
    }
    this.reason.textContent = errors ? `Fix ${counted(errors, "error")} before you publish.` : "";
    this.blocked.hidden = !errors || !this.store.data.may_change || (this.publish.hidden && this.request.hidden);
  }

  goToFirstError() {
    const first = this.store.findings.find(({ severity }) => severity === "error");
    if (first) this.goTo(first.path);
  }

  /** Shows a request to publish, a returned draft, and a newer live version to merge. @param {State} state */
  showNotice({ notice, take_over: address, number }) {
    const taking = address ? link(`Merge the changes of version ${number}`, address) : "";
    const said = [...this.whyReadOnly(), notice, taking].filter(Boolean).flatMap((one) => [one, " "]);
    this.notice.replaceChildren(...said);
    this.notice.hidden = !said.length;
  }

  /** @returns {(Node | string)[]} */
  whyReadOnly() {
    const { managed, may_change: may } = this.store.data;
    if (managed) return ["This application is managed by files in ", element("code", {}, managed), ". Change it there, or clone it under General."];
    return may ? [] : ["You can view this application, but you can't change it."];
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
    this.details.replaceChildren(issueList(this.store, this.goTo));
  }

  /** @param {string} text */
  say(text, isBad = false) {
    this.status.textContent = text;
    this.status.classList.toggle("studio-error", isBad);
  }

  /** Save after a pause. Typing that was undone is not a change. */
  schedule(delay = AUTOSAVE_MS) {
    if (!this.store.data.may_change) return;
    clearTimeout(this.#timer);
    if (this.progress !== "saving") this.progress = this.store.isChanged ? "waiting" : "saved";
    this.#timer = setTimeout(() => this.autosave(), delay);
  }

  autosave() {
    const { isChanged, state } = this.store;
    const isAsking = this.dialog.isOpen || (!this.details.hidden && this.details.dataset.what === "clashes");
    // A save would withdraw the request, and change a draft that is about to be published.
    if (isChanged && !isAsking && !state.is_requested && this.progress !== "saving") this.saveDraft({}, "typed");
  }

  /** @param {keyof typeof SAVES} progress */
  note(progress) {
    this.progress = progress;
    this.show();
  }

  /** @param {string} text @param {boolean} [isAgain] it is retried automatically */
  fail(text, isAgain = false) {
    this.say(text, true);
    this.note("failed");
    clearTimeout(this.#timer);
    if (isAgain) this.#timer = setTimeout(() => this.autosave(), RETRY_MS);
    return false;
  }

  /**
   * Save, and merge other users' changes. Returns true if the draft is stored.
   * @param {Record<string, string>} choices by the paths of clashes @param {Reason} reason
   */
  saveDraft(choices = {}, reason = "asked") {
    this.#saving = this.#saving.then(() => this.#save(choices, reason));
    return this.#saving;
  }

  /** @param {Record<string, string>} choices @param {Reason} reason @returns {Promise<boolean>} */
  async #save(choices, reason) {
    const { store } = this;
    if (reason !== "asked" && !store.isChanged) return true;
    const hadFailed = this.status.classList.contains("studio-error");
    clearTimeout(this.#timer);
    this.#isHeld = false;
    this.note("saving");
    if (reason === "asked") this.say("Saving…");
    const { version, base } = store;
    const sent = structuredClone(store.current); // Fields continue to change the manifest itself.
    let response;
    try {
      response = await store.send("save", { ...sent, version, base, choices, is_automatic: reason === "typed" });
    } catch {
      return this.fail("Not saved: this server is unreachable. Retrying…", true);
    }
    if (response.redirected) return this.fail("Not saved: you are signed out. Sign in again in another tab, then save.");
    const answer = await response.json().catch(() => ({}));
    if (response.status === 202) {
      this.#isHeld = true;
      this.note("waiting");
      return false;
    }
    if (response.status === 404) return this.fail(GONE);
    if (response.status === 409) {
      this.note("failed");
      this.ask(answer, reason === "asked");
      return false;
    }
    if (!response.ok) {
      if (answer.findings) store.found(answer.findings);
      return this.fail(answer.message ?? `Not saved (status ${response.status}).`);
    }
    const isOther = this.take(answer, sent);
    const isRefused = answer.refused?.length > 0;
    this.progress = isRefused ? "failed" : store.isChanged ? "waiting" : "saved";
    if (isRefused) this.say(answer.message, true);
    else if (reason === "asked" || isOther) this.say(answer.message);
    else if (hadFailed) this.say("");
    store.tell(isOther ? "stored" : "saved");
    if (store.isChanged && !isRefused) this.schedule();
    return !isRefused;
  }

  /**
   * Continue editing the stored draft. Returns true if it differs from the typed draft.
   * @param {Stored & {refused?: (keyof Draft)[]}} answer @param {Draft} sent
   */
  take(answer, sent) {
    const { store } = this;
    const { manifest, title, description, icon, skills } = answer;
    const stored = { manifest, title, description, icon, skills };
    const kept = Object.fromEntries((answer.refused ?? []).map((name) => [name, stored[name]]));
    const isTyped = canonical({ ...sent, title: sent.title.trim(), ...kept }) === canonical(stored);
    const typedMeanwhile = canonical(store.current) !== canonical(sent);
    if (isTyped) store.keepTyped(answer, { ...sent, ...kept });
    // Keep the old version: the next save merges the typed text with other users' changes.
    else if (typedMeanwhile) store.keepTyped({ version: store.version, state: answer.state }, sent);
    else store.keep(answer);
    if (this.details.dataset.what === "clashes") this.details.hidden = true;
    return !isTyped && !typedMeanwhile;
  }

  /** Other users changed the same fields. The user chooses a side for each. @param {{message: string, clashes: Clash[]}} refusal */
  ask({ message, clashes }, takesFocus = true) {
    this.say(message, true);
    const fields = clashes.map(({ path, label, mine, theirs }) => {
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
        element("legend", { title: path }, label),
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
    if (takesFocus) fields[0]?.querySelector("input")?.focus();
  }

  async forget() {
    const { state } = this.store;
    const what = state.can_discard ? "the draft and your changes" : "your changes since it was saved";
    clearTimeout(this.#timer);
    const kept = state.can_discard && state.number ? `Version ${state.number} stays live.` : "";
    if (!(await confirmed(`Discard ${what}?`, kept, "Discard"))) {
      if (this.store.isChanged) this.schedule();
      this.discard.focus();
      return;
    }
    await this.#saving;
    const response = await this.store.send("discard", {}).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (!response?.ok || !answer) {
      this.say(answer?.message ?? "Discarding failed. Try again.", true);
      return;
    }
    this.keep(answer);
  }

  async unarchive() {
    await this.#saving;
    const refusal = await this.act("unarchive", {});
    if (refusal) this.say(refusal.message, true);
  }

  /** @param {Stored & {message: string}} answer */
  keep(answer) {
    this.store.keep(answer);
    this.details.hidden = true;
    this.progress = "";
    this.say(answer.message);
    this.store.tell("stored");
  }

  // Show the changes, and ask for a note for the version or for the other publisher.
  async goPublish(isRequest = false) {
    if (this.publish.getAttribute("aria-disabled") === "true") {
      this.goToFirstError();
      return;
    }
    if (this.store.isChanged && !(await this.saveDraft())) return;
    const response = await this.store.send("difference", {}).catch(() => null);
    if (!response?.ok) {
      this.say("The changes could not be loaded. Try again.", true);
      return;
    }
    const { differences, version } = await response.json();
    this.say("");
    this.details.hidden = true;
    this.dialog.show(differences, {
      isRequest,
      send: (body) => this.act(isRequest ? "request" : "publish", { ...body, version }),
      sendBack: this.store.state.takes_two && !isRequest ? (words) => this.act("return", { words }) : null,
      goTo: this.goTo,
      cancel: () => {
        if (this.store.isChanged) this.schedule();
        (isRequest ? this.request : this.publish).focus();
      },
    });
  }

  /** @param {string} name @param {object} body @returns {Promise<Refusal | null>} */
  async act(name, body) {
    const response = await this.store.send(name, body).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (response?.ok && answer) {
      this.dialog.close();
      if (this.store.isChanged) {
        // Text that was typed since the last save becomes the next draft.
        this.store.keepTyped(answer, this.store.base);
        this.say(answer.message);
        this.store.tell("change");
      } else this.keep(answer);
      this.status.focus();
      return null;
    }
    if (answer?.findings?.length) this.store.found(answer.findings);
    return { message: "The action failed. Try again.", ...answer };
  }
}

/** @param {number} number @param {string} name */
const counted = (number, name) => (number ? `${number} ${name}${number === 1 ? "" : "s"}` : "");
