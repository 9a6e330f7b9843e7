/** Where a question is written: grows with it, keeps it over a reload, sends or stops. */

import { html, ifDefined, LitElement, live, nothing } from "../vendor/lit.js";
import { icon } from "./icons.js";
import { tray } from "./tray.js";

/** @import { Attachment } from "./frames.js" */
/** @import { Drafts } from "./drafts.js" */
/** @import { Uploads } from "./uploads.js" */

/** From this part of the limit on, the count is shown. */
const COUNT_FROM = 0.8;

/** Dispatches `ask` (detail: `{text, attachments, isAnswer}`) and `stop`. */
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
    text: { state: true },
    tried: { state: true },
  };

  constructor() {
    super();
    this.busy = false;
    /** Whether the answer waits for the person. */
    this.waiting = false;
    /** Whether what is sent answers a question of the answer's. */
    this.answering = false;
    this.connected = true;
    /** Whether it is known what was said before. */
    this.ready = false;
    /** Why nothing can be typed; "" when it can. */
    this.disabled = "";
    /** Why the conversation cannot be continued at all; "" when it can. */
    this.ended = "";
    this.limit = 0;
    /** Where the conversation is. */
    this.draftKey = "";
    /** @type {Drafts | undefined} */
    this.drafts = undefined;
    /** @type {Uploads | undefined} */
    this.uploads = undefined;
    this.text = "";
    /** Whether something was to be sent that cannot be. */
    this.tried = false;
  }

  createRenderRoot() {
    return this;
  }

  firstUpdated() {
    this.text = this.drafts?.read(this.draftKey) ?? "";
    this.uploads?.giveBack(this.#keptFiles());
    this.uploads?.addEventListener("change", () => {
      this.#keepFiles();
      this.requestUpdate();
    });
    this.requestUpdate();
  }

  updated() {
    if (this.tried && !this.#obstacle) this.tried = false;
    const field = this.#field;
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }

  focus() {
    this.#field?.focus();
  }

  /** Put a text where the person can change it. @param {string} text */
  fill(text) {
    this.#keep(text);
    void this.updateComplete.then(() => {
      this.focus();
      this.#field?.setSelectionRange(text.length, text.length);
    });
  }

  /**
   * Give a question back that was not taken, unless something new was written meanwhile.
   * @param {string} text @param {Attachment[]} attachments
   */
  giveBack(text, attachments) {
    if (!this.text) this.fill(text);
    this.uploads?.giveBack(attachments);
  }

  /** Show the draft of another conversation; that of the open one is kept. @param {string} key */
  openDraft(key) {
    this.draftKey = key;
    this.text = this.drafts?.read(key) ?? "";
    this.tried = false;
    if (!this.uploads?.items.length) this.uploads?.giveBack(this.#keptFiles());
    this.requestUpdate();
  }

  /** The draft belongs to another conversation now. @param {string} key */
  moveDraft(key) {
    this.drafts?.write(this.draftKey, "");
    sessionStorage.removeItem(this.#filesKey);
    this.draftKey = key;
    this.#keep(this.text);
    this.#keepFiles();
  }

  render() {
    if (this.ended) return this.#ending();
    return html`<form class="composer" @submit=${this.#submit}>
      ${this.uploads ? tray(this.uploads, () => this.focus()) : nothing} ${this.#attachButton()}
      <label class="visually-hidden" for="question">Your question</label>
      <textarea
        id="question"
        data-tool-field="question"
        rows="1"
        dir="auto"
        placeholder=${this.disabled || this.#placeholder}
        aria-describedby=${this.#isLong ? "question-hint question-count" : "question-hint"}
        aria-invalid=${this.#excess > 0 ? "true" : "false"}
        ?disabled=${Boolean(this.disabled)}
        .value=${live(this.text)}
        @input=${this.#write}
        @keydown=${this.#press}
        @paste=${this.#paste}
      ></textarea>
      <div class="composer-buttons">
        ${this.busy ? this.#stopButton() : nothing} ${this.busy && !this.#hasWords ? nothing : this.#sendButton()}
      </div>
      ${this.#isLong ? this.#count() : nothing}
      <p class="composer-problem" role="alert">${this.tried ? this.#obstacle : ""}</p>
      <p id="question-hint" class="composer-hint">${this.#hint}</p>
    </form>`;
  }

  get #placeholder() {
    if (this.#isAnswer) return "Answer the question above…";
    if (this.waiting) return "The answer waits for you, above";
    return this.busy ? "Write the next message…" : "Ask something…";
  }

  /** What Enter will do, where that is not simply to ask. */
  get #hint() {
    if (this.disabled || !this.busy) return "";
    if (!this.connected) return "No connection: what you write stays here.";
    if (this.#isAnswer) return "Enter answers the question above.";
    return this.#hasWords ? "Enter queues the message: it is sent after this answer." : "";
  }

  /** An answer to a question has no files. */
  get #isAnswer() {
    return this.answering && !this.uploads?.items.length;
  }

  get #hasWords() {
    return this.text.trim() !== "" || Boolean(this.uploads?.items.length);
  }

  /** In place of the form; an answer that is still being written can be stopped. */
  #ending() {
    return html`<div class="composer ended">
      <p>${this.ended}</p>
      ${this.busy ? this.#stopButton() : nothing}
    </div>`;
  }

  #attachButton() {
    const choose = () => /** @type {HTMLInputElement | null} */ (this.querySelector("#files-to-send"))?.click();
    return html`<button
        type="button"
        class="quiet attach"
        title="Attach files"
        ?disabled=${Boolean(this.disabled)}
        @click=${choose}
      >
        ${icon("paperclip")}<span class="visually-hidden">Attach files</span>
      </button>
      <input
        type="file"
        id="files-to-send"
        multiple
        hidden
        aria-label="Files"
        accept=${ifDefined(this.uploads?.limits.types.join(",") || undefined)}
        @change=${this.#choose}
      />`;
  }

  #sendButton() {
    const word = !this.busy ? "Send" : this.#isAnswer ? "Answer" : "Queue";
    const why = this.uploads?.isPending ? "The files are being uploaded" : `${word} (Enter)`;
    return html`<button type="submit" class="round" aria-disabled=${String(!this.#canSend)} title=${why}>
      ${icon("arrow-up")}<span class="visually-hidden">${word}</span>
    </button>`;
  }

  #stopButton() {
    return html`<button type="button" class="round stop" title="Stop (Esc)" @click=${this.#stop}>
      ${icon("square")}<span class="visually-hidden">Stop</span>
    </button>`;
  }

  #count() {
    const words =
      this.#excess > 0
        ? `${this.#excess.toLocaleString()} characters too many`
        : `${this.text.length.toLocaleString()} of ${this.limit.toLocaleString()} characters`;
    return html`<p id="question-count" class=${this.#excess > 0 ? "count over" : "count"}>${words}</p>`;
  }

  get #field() {
    return this.querySelector("textarea");
  }

  get #excess() {
    return this.text.length - this.limit;
  }

  get #isLong() {
    return this.text.length > this.limit * COUNT_FROM;
  }

  get #canSend() {
    const items = this.uploads?.items ?? [];
    const fits = this.#excess <= 0 && items.length <= (this.uploads?.limits.most ?? 0);
    const isFree = this.ready && !this.disabled && (this.connected || !this.busy);
    return isFree && this.#hasWords && fits && (this.uploads?.isReady ?? true);
  }

  /** Why what is written cannot be sent, and what to do about it. */
  get #obstacle() {
    const items = this.uploads?.items ?? [];
    const failed = items.find(({ state }) => state === "failed");
    const most = this.uploads?.limits.most ?? 0;
    if (failed) return `Not sent: ${failed.name} could not be uploaded. Remove it${failed.isRetryable ? " or retry" : ""}.`;
    if (this.uploads?.isPending) return "Not sent: a file is still being uploaded.";
    if (items.length > most) return `Not sent: at most ${most} files go with one question.`;
    if (this.#excess > 0) return `Not sent: the message is ${this.#excess.toLocaleString()} characters too long.`;
    if (this.busy && !this.connected) return "Not sent: there is no connection.";
    return this.ready ? "" : "Not sent: the conversation is still being loaded.";
  }

  get #filesKey() {
    return `files of ${this.draftKey}`;
  }

  /** @param {Event} event */
  #choose(event) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    this.uploads?.add(input.files ?? []);
    input.value = ""; // the same file may be chosen again
    this.focus();
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const { files = [], types = [] } = event.clipboardData ?? {};
    // Office programs put a picture of the text beside it.
    if (!files.length || types.includes("text/plain")) return;
    event.preventDefault();
    this.uploads?.add(files);
  }

  /** @param {InputEvent} event */
  #write(event) {
    this.#keep(/** @type {HTMLTextAreaElement} */ (event.target).value);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    // While a word is being composed, Enter chooses its characters (229: Safari ends that first).
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.#send();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.#send();
  }

  #send() {
    if (!this.#canSend) {
      this.tried = this.#hasWords;
      return;
    }
    const text = this.text.trim();
    const isAnswer = this.#isAnswer;
    const attachments = this.uploads?.take() ?? [];
    this.#keep("");
    this.focus();
    this.dispatchEvent(new CustomEvent("ask", { detail: { text, attachments, isAnswer } }));
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

  #keepFiles() {
    const stored = this.uploads?.items.filter(({ state }) => state === "done") ?? [];
    const written = stored.map(({ name, type, url }) => ({ title: name, type, url }));
    if (written.length) sessionStorage.setItem(this.#filesKey, JSON.stringify(written));
    else sessionStorage.removeItem(this.#filesKey);
  }

  /** @returns {Attachment[]} */
  #keptFiles() {
    return JSON.parse(sessionStorage.getItem(this.#filesKey) ?? "[]");
  }
}
customElements.define("chat-composer", ChatComposer);
