/** The turns of a conversation, or what there is to know before the first one. */

import { html, LitElement, nothing, repeat } from "../vendor/lit.js";
import { attachmentCards } from "./attachments.js";
import { summaryBlock } from "./gauge.js";
import { questionText } from "./folded-text.js";
import { icon } from "./icons.js";
import "./answer.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Question } from "./conversation.js"
 * @import { Summary } from "./gauge.js"
 *
 * @typedef {{title: string, text: string}} Starter
 * @typedef {object} Starters
 * @property {string} intro_text
 * @property {boolean} auto_submit
 * @property {boolean} chat_message_input_disabled
 * @property {Starter[]} starters
 */

/** Dispatches `starter` (detail: the starter) and lets the answers' `retry` and `answer` through. */
export class ChatLog extends LitElement {
  static properties = {
    turns: { attribute: false },
    loaded: { attribute: false },
    busy: { attribute: false },
    heading: { attribute: false },
    description: { attribute: false },
    starters: { attribute: false },
    ended: { attribute: false },
    summary: { attribute: false },
  };

  constructor() {
    super();
    /** @type {(Question | Answer)[]} */
    this.turns = [];
    this.loaded = true;
    this.busy = false;
    this.heading = "";
    this.description = "";
    /** What stands on the application's tile, the number of its colour, and its icon if it has one. */
    this.letters = this.tile = this.emoji = this.icon = "";
    /** Whether nothing can be asked any more. */
    this.ended = false;
    /** @type {Summary | null} what the model reads in place of the beginning */
    this.summary = null;
    /** @type {Starters} */
    this.starters = {
      intro_text: "",
      auto_submit: true,
      chat_message_input_disabled: false,
      starters: [],
    };
  }

  createRenderRoot() {
    return this;
  }

  render() {
    if (!this.loaded) return html`<p class="loading working">Loading the conversation…</p>`;
    if (!this.turns.length) return this.#welcome();
    const last = this.turns.at(-1);
    return html`${repeat(
      this.turns,
      (turn) => `${turn.role} ${turn.id}`,
      (turn) => (turn.role === "user" ? question(turn) : this.#answer(turn, turn === last)),
    )}
    ${this.starters.chat_message_input_disabled && !this.busy ? this.#starters() : nothing}`;
  }

  #welcome() {
    return html`<div class="welcome">
      <span class="monogram large" data-tile=${this.tile} ?data-icon=${this.icon || this.emoji} aria-hidden="true"
        >${this.icon ? html`<img src=${this.icon} alt="" />` : this.emoji || this.letters}</span
      >
      <h2 dir="auto">${this.heading}</h2>
      ${this.description ? html`<p class="description" dir="auto">${this.description}</p>` : nothing}
      ${this.#starters()}
    </div>`;
  }

  #starters() {
    const { starters, intro_text } = this.starters;
    if (!starters.length) return nothing;
    return html`<section class="starters" aria-labelledby="starters-heading">
      <h3 id="starters-heading">${intro_text || "Start with"}</h3>
      <ul>
        ${starters.map(
          (starter) => html`<li>
            <button type="button" @click=${() => this.#start(starter)}>
              <span dir="auto">${starter.title}</span>${icon("arrow-up")}
            </button>
          </li>`,
        )}
      </ul>
    </section>`;
  }

  /** @param {Starter} starter */
  #start(starter) {
    this.dispatchEvent(new CustomEvent("starter", { detail: starter }));
  }

  /** @param {Answer} answer @param {boolean} isLast */
  #answer(answer, isLast) {
    return html`<chat-answer
        class="turn answer"
        .answer=${answer}
        .version=${answer.version}
        .retryable=${isLast && !this.busy && !this.ended}
      ></chat-answer>
      ${this.summary && this.summary.after === answer.id ? summaryBlock(this.summary) : nothing}`;
  }
}
customElements.define("chat-log", ChatLog);

/** @param {import("./frames.js").Sender} sender */
function senderLine({ kind, title, at }) {
  const words = kind === "alarm" ? "Alarm" : `From the ${kind} “${title}”`;
  return html`<p class="question-sender">
    ${icon(at ? "clock" : "settings")}<span dir="auto">${words}</span>
    ${at ? html`<time datetime=${at}>${new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>` : nothing}
  </p>`;
}

/** @param {Question} turn */
function question({ text, attachments, place, sender, sending }) {
  return html`<div class="turn question">
    <h2 class="visually-hidden">Question</h2>
    ${sender ? senderLine(sender) : nothing}
    ${place
      ? html`<p class="question-place" dir="auto">
          ${[place.title, place.narrative].filter(Boolean).join(": ")}
        </p>`
      : nothing}
    ${questionText(text)} ${attachmentCards(attachments)}
    ${sending ? html`<p class="question-state">Sending…</p>` : nothing}
  </div>`;
}
