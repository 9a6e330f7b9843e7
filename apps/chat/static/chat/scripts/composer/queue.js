/** Queued messages, which can be edited, removed, or sent immediately. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { attachmentCards } from "../files/attachments.js";
import { questionText } from "../log/folded-text.js";
import { icon } from "../icons.js";
import { isSendKey } from "../preferences.js";
import { gettext } from "../texts.js";

/** @import { Queued } from "../session/frames.js" */

/** Dispatches `order` (detail: `{type, id, changes}`), and `left` when the focused element is gone. */
export class ChatQueue extends LitElement {
  static properties = {
    messages: { attribute: false },
    sending: { attribute: false },
    busy: { attribute: false },
    edited: { state: true },
    isEmpty: { state: true },
  };

  constructor() {
    super();
    /** @type {Queued[]} */
    this.messages = [];
    /** @type {string[]} texts of messages that the server has not got yet */
    this.sending = [];
    /** True while an answer is in progress. */
    this.busy = false;
    /** @type {Queued | null} the message before the edit */
    this.edited = null;
    /** True after an attempt to save an empty text. */
    this.isEmpty = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    if (!this.messages.length && !this.sending.length) return nothing;
    return html`<section class="queue" aria-labelledby="queue-heading">
      <h2 id="queue-heading" class="visually-hidden">${gettext("Queued messages")}</h2>
      <ol>
        ${repeat(
          this.messages,
          ({ id }) => id,
          (message) => html`<li>${message.id === this.edited?.id ? this.#form(message) : this.#item(message)}</li>`,
        )}
        ${this.sending.map(
          (text) => html`<li>
            ${questionText(text)}
            <p class="question-state">${gettext("Sending…")}</p>
          </li>`,
        )}
      </ol>
    </section>`;
  }

  /** @param {Queued} message */
  #item(message) {
    const { id, text, attachments } = message;
    const name = text || gettext("the files");
    return html`${questionText(text)}
      ${attachmentCards(attachments)}
      <p class=${message.problem ? "question-state field-error" : "question-state"}>${stateOf(message)}</p>
      <div class="queue-buttons">
        <button type="button" class="link" id="edit-${id}" @click=${() => this.#edit(message)}>
          ${icon("pencil")}${gettext("Edit")}<span class="visually-hidden"> ${name}</span>
        </button>
        <button type="button" class="link" @click=${() => this.#leave("queue.remove", message)}>
          ${icon("x")}${gettext("Remove")}<span class="visually-hidden"> ${name}</span>
        </button>
        <button type="button" class="link" @click=${() => this.#leave("queue.send", message)}>
          ${icon("arrow-up")}${this.busy ? gettext("Stop and send now") : gettext("Send now")}<span class="visually-hidden"> ${name}</span>
        </button>
      </div>`;
  }

  /** @param {Queued} message */
  #form({ id, text }) {
    return html`<form class="queue-form" @submit=${this.#save} @keydown=${this.#press}>
      <label class="visually-hidden" for="queued-${id}">${gettext("Queued message")}</label>
      <textarea id="queued-${id}" name="text" rows="3" dir="auto" .value=${text}
        @input=${() => (this.isEmpty = false)}></textarea>
      <p class="field-error" role="alert">${this.isEmpty ? gettext("Not saved. Enter a message, or cancel and remove it.") : ""}</p>
      <div class="queue-buttons">
        <button class="button primary">${gettext("Save")}</button>
        <button type="button" class="button" @click=${this.#cancel}>${gettext("Cancel")}</button>
      </div>
    </form>`;
  }

  /** Held while it is edited, so that it is not sent half-edited. @param {Queued} message */
  #edit(message) {
    this.edited = message;
    this.isEmpty = false;
    if (!message.held) this.#order("queue.change", message.id, { held: true });
    this.#focusLater(`queued-${message.id}`);
  }

  /** @param {SubmitEvent} event */
  #save(event) {
    event.preventDefault();
    const text = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("text") ?? "").trim();
    const { edited } = this;
    if (!edited) return;
    if (text || edited.attachments.length) this.#close(edited, { text, held: edited.held });
    else this.isEmpty = true;
  }

  #cancel() {
    if (this.edited) this.#close(this.edited, { held: this.edited.held });
  }

  /** @param {Queued} edited @param {{text?: string, held: boolean}} changes */
  #close(edited, changes) {
    this.edited = null;
    this.#order("queue.change", edited.id, changes);
    this.#focusLater(`edit-${edited.id}`);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault(); // Elsewhere, it stops the answer.
      this.#cancel();
    } else if (isSendKey(event) && event.target instanceof HTMLTextAreaElement) {
      event.preventDefault();
      event.target.form?.requestSubmit();
    }
  }

  /** @param {"queue.remove" | "queue.send"} type @param {Queued} message */
  #leave(type, { id }) {
    this.#order(type, id);
    this.dispatchEvent(new CustomEvent("left", { detail: type }));
  }

  /** @param {string} type @param {string} id @param {{text?: string, held?: boolean}} [changes] */
  #order(type, id, changes) {
    this.dispatchEvent(new CustomEvent("order", { detail: { type, id, changes } }));
  }

  /** @param {string} id */
  #focusLater(id) {
    void this.updateComplete.then(() => document.getElementById(id)?.focus());
  }
}
customElements.define("chat-queue", ChatQueue);

/** @param {Queued} message */
function stateOf({ held, problem }) {
  if (problem) return gettext("Not sent: {problem}", { problem });
  return held ? gettext("On hold. Choose “Send now” to send this message.") : gettext("Queued");
}
