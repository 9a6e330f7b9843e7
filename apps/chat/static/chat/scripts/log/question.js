/** A question: its text, files and actions. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { ActionRow, branchActions, changeBranches } from "../answer/actions.js";
import { attachmentCards, leftOutNotice } from "../files/attachments.js";
import { copy } from "../clipboard.js";
import { momentText } from "../durations.js";
import { questionText } from "./folded-text.js";
import { icon } from "../icons.js";
import { isSendKey } from "../preferences.js";
import { gettext } from "../texts.js";

const BRANCHES = { previous: gettext("Previous version of the question"), next: gettext("Next version of the question") };

/**
 * @import { Action } from "../answer/actions.js"
 * @import { Branch, Sender } from "../session/frames.js"
 * @import { Question } from "../session/conversation.js"
 */

const COPIED_FOR = 2_000;

/** Dispatches `branch-ask` and `branch-change`, which bubble. */
export class ChatQuestion extends LitElement {
  static properties = {
    question: { attribute: false },
    state: { attribute: false },
    branch: { attribute: false },
    changeable: { attribute: false },
    limit: { attribute: false },
    editing: { state: true },
    copied: { state: true },
  };

  constructor() {
    super();
    /** @type {Question | undefined} */
    this.question = undefined;
    /** True while it is being sent; a change of the question itself does not trigger a redraw. */
    this.state = "";
    /** @type {Branch | undefined} */
    this.branch = undefined;
    this.changeable = false;
    this.limit = Infinity;
    this.editing = false;
    this.copied = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { question } = this;
    if (!question) return nothing;
    const { text, attachments, place, sender, application, left_out, created_at } = question;
    return html`${application ? html`<p class="handover" dir="auto">${gettext("{title} answers from here on", { title: application.title })}</p>` : nothing}
      <h2 class="visually-hidden">${gettext("Question")}</h2>
      ${created_at ? html`<time class="printed" datetime=${created_at}>${momentText(created_at)}</time>` : nothing}
      ${sender ? senderLine(sender) : nothing}
      ${place
        ? html`<p class="question-place" dir="auto">${[place.title, place.narrative].filter(Boolean).join(": ")}</p>`
        : nothing}
      ${this.editing ? this.#editor(question) : questionText(text)} ${attachmentCards(attachments)} ${leftOutNotice(left_out)}
      ${this.editing ? nothing : this.#foot(question)}`;
  }

  /** @param {Question} question */
  #foot(question) {
    return html`<action-row .label=${gettext("Question actions")} .actions=${this.#actions(question)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied ? gettext("Copied") : ""}</span>`;
  }

  /** @param {Question} question @returns {Action[]} */
  #actions({ id, text }) {
    /** @param {string} message @param {string} name */
    const show = (message, name) => changeBranches(this, "branch.switch", message, name);
    const remove = () => changeBranches(this, "turn.delete", id, "delete");
    return [
      ...branchActions(this.branch, BRANCHES, !this.changeable, show),
      ...(this.changeable
        ? [{ name: "edit", icon: "pencil", label: gettext("Edit the question"), run: () => this.edit() }]
        : []),
      ...(text
        ? [{ name: "copy", icon: this.copied ? "check" : "copy", label: gettext("Copy the question"), run: () => this.#copy(text) }]
        : []),
      ...(this.changeable
        ? [{ name: "delete", icon: "trash-2", label: gettext("Delete question and answer"), run: remove }]
        : []),
    ];
  }

  /** @param {string} text */
  async #copy(text) {
    this.copied = await copy(text);
    setTimeout(() => (this.copied = false), COPIED_FOR);
  }

  /** @param {Question} question */
  #editor({ text, attachments }) {
    return html`<form class="question-editor" @submit=${this.#send} @keydown=${this.#keys}>
      <textarea aria-label=${gettext("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit) ? this.limit : nothing}
        ?required=${!attachments.length} .defaultValue=${text}></textarea>
      <p class="question-state">${gettext("Your earlier answers are still there: switch with ‹ 1/2 ›.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#cancel}>${gettext("Cancel")}</button>
        <button class="button primary">${gettext("Send")}</button>
      </div>
    </form>`;
  }

  /** Let the user edit it. @returns {boolean} false if that is not possible now */
  edit() {
    if (!this.changeable || this.editing) return false;
    this.editing = true;
    void this.#focusEditor();
    return true;
  }

  async #focusEditor() {
    await this.updateComplete;
    const field = this.#field();
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
    // After the page has scrolled down to the newest answer.
    requestAnimationFrame(() => requestAnimationFrame(() => field?.scrollIntoView({ block: "center" })));
  }

  /** @returns {HTMLTextAreaElement | null} */
  #field() {
    return this.querySelector("textarea");
  }

  async #cancel() {
    this.editing = false;
    await this.updateComplete;
    const row = this.querySelector("action-row");
    if (!(row instanceof ActionRow)) return;
    await row.updateComplete;
    row.focusOn("edit");
  }

  /** @param {KeyboardEvent} event */
  #keys(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault(); // Otherwise, it would stop an answer.
      void this.#cancel();
    } else if (isSendKey(event) && event.target instanceof HTMLTextAreaElement) {
      event.preventDefault();
      /** @type {HTMLFormElement} */ (event.currentTarget).requestSubmit();
    }
  }

  /** @param {SubmitEvent} event */
  #send(event) {
    event.preventDefault();
    const { question } = this;
    const text = this.#field()?.value ?? "";
    if (!question || !this.changeable || !(text.trim() || question.attachments.length)) return;
    this.editing = false;
    const detail = { text, attachments: question.attachments, edits: question.id };
    this.dispatchEvent(new CustomEvent("branch-ask", { bubbles: true, detail }));
  }
}
customElements.define("chat-question", ChatQuestion);

/** @param {string} kind @param {string} title */
function senderText(kind, title) {
  if (kind === "alarm") return gettext("Alarm");
  if (kind === "webhook") return gettext("Sent by the webhook “{title}”", { title });
  return gettext("Sent by the schedule “{title}”", { title });
}

/** @param {Sender} sender */
function senderLine({ kind, title, at }) {
  const words = senderText(kind, title);
  return html`<p class="question-sender">
    ${icon(at ? "clock" : "settings")}<span dir="auto">${words}</span>
    ${at ? html`<time datetime=${at}>${momentText(at)}</time>` : nothing}
  </p>`;
}
