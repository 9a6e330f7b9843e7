/** Some neighbouring turns. Far from what is in sight they give way to an empty place of their height. */

import { html, LitElement, nothing, repeat } from "../vendor/lit.js";
import { textOf } from "./answers.js";
import { attachmentCards } from "./attachments.js";
import { questionText } from "./folded-text.js";
import { summaryBlock } from "./gauge.js";
import { icon } from "./icons.js";
import "./answer.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Question } from "./conversation.js"
 * @import { Summary } from "./gauge.js"
 */

export class ChatTurns extends LitElement {
  static properties = {
    turns: { attribute: false, hasChanged: areOthers },
    state: { attribute: false },
    last: { attribute: false },
    retryable: { attribute: false },
    summary: { attribute: false },
    near: { attribute: false },
  };

  constructor() {
    super();
    /** @type {(Question | Answer)[]} */
    this.turns = [];
    /** Changes with the turns. */
    this.state = "";
    /** Whether these are the newest turns, which are always drawn. */
    this.last = false;
    /** Whether the last answer may be tried again. */
    this.retryable = false;
    /** @type {Summary | null} */
    this.summary = null;
    /** Whether they are in sight, or soon will be. */
    this.near = true;
    this.height = 0;
    this.addEventListener("focusout", () => this.requestUpdate());
  }

  createRenderRoot() {
    return this;
  }

  /** @param {boolean} near @param {number} height as they are drawn now */
  place(near, height) {
    if (!this.classList.contains("resting")) this.height = height;
    this.near = near;
  }

  render() {
    const rests = this.#rests();
    this.classList.toggle("resting", rests);
    this.style.blockSize = rests ? `${this.height}px` : "";
    if (rests) return this.#findable();
    const last = this.turns.at(-1);
    return html`${repeat(
      this.turns,
      (turn) => `${turn.role} ${turn.id}`,
      (turn) => (turn.role === "user" ? question(turn) : this.#answer(turn, turn === last)),
    )}`;
  }

  /** What has the focus or is selected stays. */
  #rests() {
    if (this.near || this.last || !this.height || this.contains(document.activeElement)) return false;
    const selection = document.getSelection();
    return !selection || selection.isCollapsed || !selection.containsNode(this, true);
  }

  /** The words alone, for the search of the browser. */
  #findable() {
    const words = this.turns.map((turn) => (turn.role === "user" ? turn.text : textOf(turn))).join("\n");
    return html`<div hidden="until-found" @beforematch=${() => (this.near = true)}>${words}</div>`;
  }

  /** @param {Answer} answer @param {boolean} isLast */
  #answer(answer, isLast) {
    return html`<chat-answer
        class="turn answer"
        id=${answer.message ? `message-${answer.message.id}` : nothing}
        .answer=${answer}
        .version=${answer.version}
        .retryable=${isLast && this.retryable}
      ></chat-answer>
      ${this.summary && this.summary.after === answer.id ? summaryBlock(this.summary) : nothing}`;
  }
}
customElements.define("chat-turns", ChatTurns);

/** @param {(Question | Answer)[]} turns @returns {string} that changes whenever one of them does */
export function stateOf(turns) {
  return turns.map((turn) => (turn.role === "user" ? Number(turn.sending) : turn.version)).join();
}

/** @param {(Question | Answer)[]} turns @param {(Question | Answer)[] | undefined} before */
function areOthers(turns, before) {
  return turns.length !== before?.length || turns.some((turn, index) => turn !== before[index]);
}

/** @param {import("./frames.js").Sender} sender */
function senderLine({ kind, title, at }) {
  const words = kind === "alarm" ? "Alarm" : `From the ${kind} “${title}”`;
  return html`<p class="question-sender">
    ${icon(at ? "clock" : "settings")}<span dir="auto">${words}</span>
    ${at ? html`<time datetime=${at}>${new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</time>` : nothing}
  </p>`;
}

/** @param {Question} turn */
function question({ id, text, attachments, place, sender, sending }) {
  return html`<div class="turn question" id="message-${id}">
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
