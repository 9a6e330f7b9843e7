/** The message box. It grows with its text, preserves it across reloads, and sends questions or stops the answer. */

import { html, ifDefined, LitElement, live, nothing } from "../../vendor/lit.js";
import { CaretMenu } from "./caret-menu.js";
import { addButton, composerChoices, dictateButton, sendButton, stopButton } from "./buttons.js";
import { countWords, hintOf, obstacleOf, placeholderOf } from "./words.js";
import { canDictate, Dictation } from "./dictation.js";
import { isLong, named, textFile } from "./pasting.js";
import { isSendKey, preference } from "../preferences.js";
import { KeptFiles } from "../files/kept-files.js";
import { gettext } from "../texts.js";
import { tray } from "../files/tray.js";

/** @import { Choice, ChoiceGroup, Sign, Trigger } from "./caret-menu.js" */
/** @import { ChoiceOption } from "../choice-list.js" */
/** @import { Attachment } from "../session/frames.js" */
/** @import { OfferedModel } from "../session/offered-models.js" */
/** @import { Drafts } from "./drafts.js" */
/** @import { Uploads } from "../files/uploads.js" */

/** The share of the limit from which the count is shown. */
const COUNT_FROM = 0.8;
/** True if the browser sizes a field to its text. Measuring costs a layout for each letter. */
const GROWS_BY_ITSELF = CSS.supports("field-sizing", "content");

/**
 * Dispatches `ask` (detail: `{text, attachments, isAnswer}`), `stop`, `effort` (detail: the thinking effort), `model` (detail: the ID of the model), `tool` (detail: `{name, on}`), `application` (detail: the slug of the first application) and `edit-last`, to edit the user's last message.
 */
export class ChatComposer extends LitElement {
  static properties = {
    busy: { attribute: false },
    ready: { attribute: false },
    waiting: { attribute: false },
    answering: { attribute: false },
    connected: { attribute: false },
    disabled: { attribute: false },
    ended: { attribute: false },
    limit: { attribute: false },
    draftKey: { attribute: false },
    uploads: { attribute: false },
    application: { attribute: false },
    applications: { attribute: false },
    efforts: { attribute: false },
    effort: { attribute: false },
    models: { attribute: false },
    model: { attribute: false },
    tools: { attribute: false },
    text: { state: true },
    tried: { state: true },
    heard: { state: true },
    pasted: { state: true },
  };

  constructor() {
    super();
    this.busy = false;
    /** True if the answer is waiting for the user. */
    this.waiting = false;
    /** True if the message answers a question of the answer. */
    this.answering = false;
    this.connected = true;
    /** True if the previous messages are loaded. */
    this.ready = false;
    /** The reason why typing is disabled, or "". */
    this.disabled = "";
    /** The reason why the conversation cannot be continued, or "". */
    this.ended = "";
    this.limit = 0;
    /** The URL of the conversation. */
    this.draftKey = "";
    /** @type {Drafts | undefined} */
    this.drafts = undefined;
    /** @type {Uploads | undefined} */
    this.uploads = undefined;
    /** @type {ChoiceOption | null} whose value is the slug; null if no other can be chosen */
    this.application = null;
    /** @type {ChoiceOption[]} the others that a new conversation can be with */
    this.applications = [];
    /** @type {string[]} the thinking efforts of the model */
    this.efforts = [];
    this.effort = "";
    /** @type {OfferedModel[]} that can be chosen */
    this.models = [];
    this.model = "";
    /** @type {import("./choices.js").ToolSwitch[]} that the user can turn on and off */
    this.tools = [];
    this.text = "";
    /** @type {{text: string, isSent: boolean} | null} the text of the box when another conversation was opened; `isSent` if the question was sent since */
    this.leaving = null;
    /** @type {"" | "words" | "nothing"} the kind of message that could not be sent */
    this.tried = "";
    /** The error of the dictation. */
    this.heard = "";
    /** @type {{id: number, text: string, at: number} | null} the long text that became a file */
    this.pasted = null;
    /** @type {(sign: Sign) => ChoiceGroup[]} the choices at the caret */
    this.offer = () => [];
    this.menu = new CaretMenu(
      (sign) => this.offer(sign),
      (choice, trigger) => this.#insert(choice, trigger),
      () => this.requestUpdate(),
    );
    /** The text before the dictated text. */
    this.said = "";
    this.dictation = new Dictation({
      text: (said) => this.#keep(this.said + said.trimStart()),
      problem: (words) => (this.heard = words),
      change: () => this.requestUpdate(),
    });
  }

  createRenderRoot() {
    return this;
  }

  firstUpdated() {
    this.requestUpdate();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has("uploads")) return;
    this.uploads?.addEventListener("change", () => {
      this.#files.keep(this.uploads?.items ?? []);
      if (!this.uploads?.items.some(({ id }) => id === this.pasted?.id)) this.pasted = null;
      this.requestUpdate();
    });
  }

  updated() {
    if (this.tried && (!this.obstacle || this.tried !== this.#content)) this.tried = "";
    if (!GROWS_BY_ITSELF && this.#field) fit(this.#field);
    this.querySelector(".caret-option[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  focus() {
    this.#field?.focus();
  }

  /** Insert a text that the user can edit. @param {string} text */
  fill(text) {
    this.#write(text, text.length);
  }

  /** Insert a text at the caret. @param {string} text */
  insert(text) {
    const at = this.#field?.selectionStart ?? this.text.length;
    this.#write(this.text.slice(0, at) + text + this.text.slice(at), at + text.length);
  }

  /**
   * Restore a question that was rejected, unless the user has typed something in the meantime.
   * @param {string} text @param {Attachment[]} attachments
   */
  giveBack(text, attachments) {
    if (!this.text) this.fill(text);
    this.uploads?.giveBack(attachments);
  }

  /** Another conversation is loading: from now on, input is meant for it. */
  leave() {
    this.leaving ??= { text: this.text, isSent: false };
  }

  /** Show the draft of another conversation, and keep the current draft. @param {string} key */
  openDraft(key) {
    const { leaving } = this;
    this.leaving = null;
    const typed = leaving && this.text !== leaving.text ? this.text : "";
    if (leaving && typed) this.#keep(leaving.text);
    this.draftKey = key;
    if (typed) this.#keep(typed);
    else this.text = this.drafts?.read(key) ?? "";
    this.tried = this.heard = "";
    this.pasted = null;
    if (!this.uploads?.items.length) this.uploads?.giveBack(this.#files.read());
    this.requestUpdate();
    if (typed && leaving?.isSent) void this.updateComplete.then(() => this.#send());
  }

  /** The draft now belongs to another conversation. @param {string} key */
  moveDraft(key) {
    this.drafts?.write(this.draftKey, "");
    this.#files.keep([]);
    this.draftKey = key;
    this.#keep(this.text);
    this.#files.keep(this.uploads?.items ?? []);
  }

  render() {
    if (this.ended) return this.#ending();
    return html`<form class="composer" @submit=${this.#submit} @focusout=${this.#leave}>
      ${this.menu.render((event) => this.menu.press(event) && this.focus())} ${this.uploads ? tray(this.uploads, () => this.focus()) : nothing}
      ${this.pasted ? this.#pastedNotice() : nothing} ${addButton(this, (event) => this.#choose(event))}
      <label class="visually-hidden" for="question">${gettext("Your question")}</label>
      <textarea
        id="question"
        data-tool-field="question"
        rows="1"
        dir="auto"
        placeholder=${this.disabled || placeholderOf(this)}
        aria-describedby=${this.#isLong ? "question-hint question-count" : "question-hint"}
        aria-invalid=${this.excess > 0 ? "true" : "false"}
        aria-autocomplete="list"
        aria-controls=${ifDefined(this.menu.controls)}
        aria-activedescendant=${ifDefined(this.menu.activeId)}
        ?disabled=${Boolean(this.disabled)}
        .value=${live(this.text)}
        @input=${this.#typed}
        @keydown=${this.#press}
        @click=${this.#look}
        @paste=${this.#paste}
      ></textarea>
      <div class="composer-buttons">
        ${composerChoices(this, { application: (slug) => this.#wish("application", slug), model: (id) => this.#wish("model", id), effort: (effort) => this.#wish("effort", effort) })}
        ${this.#canDictate ? dictateButton(this.dictation.isGoing, () => this.#dictate()) : nothing}
        ${this.busy ? stopButton(() => this.#stop()) : nothing} ${this.busy && !this.hasWords ? nothing : sendButton(this)}
      </div>
      ${this.#isLong ? this.#count() : nothing}
      <p class="composer-problem" role="alert">${this.tried ? this.obstacle : this.heard}</p>
      <p id="question-hint" class="composer-hint">${this.tried ? "" : hintOf(this)}</p>
      <p class="visually-hidden" role="status">${this.menu.words}</p>
    </form>`;
  }

  /** @param {"application" | "model" | "effort"} name @param {string} detail the choice for the conversation */
  #wish(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** An answer to a question has no files. */
  get isAnswer() {
    return this.answering && !this.uploads?.items.length;
  }

  get hasWords() {
    return this.text.trim() !== "" || Boolean(this.uploads?.items.length);
  }

  get excess() {
    return this.text.length - this.limit;
  }

  get obstacle() {
    return obstacleOf(this);
  }

  get canSend() {
    return this.obstacle === "";
  }

  /** Shown instead of the form. An answer in progress can still be stopped. */
  #ending() {
    return html`<div class="composer ended">
      <p>${this.ended}</p>
      ${this.busy ? stopButton(() => this.#stop()) : nothing}
    </div>`;
  }

  #pastedNotice() {
    return html`<p class="composer-pasted" role="status">
      <span>${gettext("The long text was attached as a file.")}</span>
      <button type="button" class="link" @click=${this.#pasteAsText}>${gettext("Paste as text instead")}</button>
    </p>`;
  }

  #count() {
    return html`<p id="question-count" class=${this.excess > 0 ? "count over" : "count"}>${countWords(this)}</p>`;
  }

  get #content() {
    return this.hasWords ? "words" : "nothing";
  }

  get #field() {
    return this.querySelector("textarea");
  }

  get #isLong() {
    return this.text.length > this.limit * COUNT_FROM;
  }

  get #canDictate() {
    return preference("voice") === "on" && canDictate() && !this.disabled;
  }

  get #files() {
    return new KeptFiles(this.draftKey);
  }

  /** @param {Event} event */
  #choose(event) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    this.uploads?.add(input.files ?? []);
    input.value = ""; // The same file may be selected again.
    this.focus();
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const { files = [], types = [] } = event.clipboardData ?? {};
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (isLong(text) && this.uploads?.takes("text/plain")) {
      event.preventDefault();
      const at = this.#field?.selectionStart ?? this.text.length;
      const [{ id }] = this.uploads.add([textFile(text)]);
      this.pasted = { id, text, at };
      return;
    }
    // Office programs also put a picture of the text on the clipboard.
    if (!files.length || types.includes("text/plain")) return;
    event.preventDefault();
    this.uploads?.add(named(files));
  }

  #pasteAsText() {
    const { pasted } = this;
    if (!pasted) return;
    this.uploads?.drop(pasted.id);
    const at = Math.min(pasted.at, this.text.length);
    this.#write(this.text.slice(0, at) + pasted.text + this.text.slice(at), at + pasted.text.length);
  }

  #typed() {
    this.dictation.abort(); // Typing takes precedence over dictation.
    this.heard = "";
    this.#keep(this.#field?.value ?? "");
    this.#look();
  }

  /** @param {FocusEvent} event */
  #leave({ relatedTarget }) {
    const isNear = relatedTarget === this.#field || (relatedTarget instanceof Element && relatedTarget.closest(".caret-menu"));
    if (this.menu.isOpen && !isNear) this.menu.close();
  }

  #look() {
    if (this.#field) this.menu.look(this.#field);
  }

  /** The selected option replaces the typed text. @param {Choice} choice @param {Trigger} trigger */
  #insert({ insert = "", act }, { start, end }) {
    this.#write(this.text.slice(0, start) + insert + this.text.slice(end), start + insert.length);
    // The action may move the focus elsewhere permanently.
    if (act) void this.updateComplete.then(act);
  }

  /** @param {string} text @param {number} caret */
  #write(text, caret) {
    this.#keep(text);
    void this.updateComplete.then(() => {
      this.focus();
      this.#field?.setSelectionRange(caret, caret);
    });
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const isComposing = event.isComposing || event.keyCode === 229; // The same condition as in `isSendKey`.
    if (isComposing || this.menu.press(event)) return;
    const isPlain = !event.shiftKey && !event.altKey;
    if (event.key === "ArrowUp" && isPlain && !event.ctrlKey && !event.metaKey && !this.text) {
      const wish = new CustomEvent("edit-last", { cancelable: true });
      if (!this.dispatchEvent(wish)) event.preventDefault();
    }
    if (!isSendKey(event)) return;
    event.preventDefault();
    this.#send();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.#send();
  }

  #send() {
    if (this.leaving && this.text !== this.leaving.text) {
      this.leaving.isSent = true;
      return;
    }
    if (!this.canSend) {
      this.#tellObstacle();
      return;
    }
    this.dictation.abort();
    const text = this.text.trim();
    const { isAnswer } = this;
    const attachments = this.uploads?.take() ?? [];
    this.#keep("");
    this.focus();
    this.dispatchEvent(new CustomEvent("ask", { detail: { text, attachments, isAnswer } }));
  }

  /** Written again each time, so that screen readers announce it each time. */
  #tellObstacle() {
    this.tried = "";
    void this.updateComplete.then(() => (this.tried = this.#content));
  }

  #dictate() {
    this.heard = "";
    if (this.dictation.isGoing) {
      this.dictation.stop();
      return;
    }
    this.said = this.text && !/\s$/.test(this.text) ? `${this.text} ` : this.text;
    this.dictation.start();
  }

  #stop() {
    this.focus();
    this.dispatchEvent(new CustomEvent("stop"));
  }

  /** @param {string} text */
  #keep(text) {
    this.text = text;
    this.drafts?.write(this.draftKey, text);
  }
}
customElements.define("chat-composer", ChatComposer);

/** Adjusts the height to the text. @param {HTMLTextAreaElement} field */
function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
