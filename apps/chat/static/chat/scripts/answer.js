/** One answer: its steps and text in the order they came, attachments, what went wrong. */

import { html, LitElement, nothing, repeat } from "../vendor/lit.js";
import { isGoing, textOf } from "./answers.js";
import { copy } from "./clipboard.js";
import { feedbackOn } from "./feedback.js";
import { figureLine } from "./figures.js";
import { helperDialog } from "./helper-dialog.js";
import { icon } from "./icons.js";
import { interactionsOf, isOpenCall, openInteraction } from "./interactions.js";
import { memoryLine } from "./memory.js";
import { cardsAndSources, sourcesOf } from "./sources.js";
import { stepList } from "./steps.js";
import "./interaction.js";
import "./markdown.js";

/** @import { Answer, Part } from "./answers.js" */

const COPIED_FOR = 2_000;

/**
 * Dispatches `retry` with the question (`{text, attachments, replaces}`) as its detail, and lets the `answer`
 * of its cards through; both bubble.
 */
export class ChatAnswer extends LitElement {
  static properties = {
    answer: { attribute: false },
    version: { attribute: false },
    retryable: { attribute: false },
    copied: { state: true },
    opened: { state: true },
  };

  constructor() {
    super();
    /** @type {Answer | undefined} */
    this.answer = undefined;
    this.version = 0;
    this.retryable = false;
    this.copied = false;
    /** The step of the helper that is being read, "" for none. */
    this.opened = "";
    this.addEventListener("helper-open", (event) => {
      this.opened = /** @type {CustomEvent<string>} */ (event).detail;
    });
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { answer } = this;
    if (!answer) return nothing;
    const going = isGoing(answer.status);
    return html`
      <h2 class="visually-hidden">Answer</h2>
      ${repeat(
        answer.parts,
        (part) => part, // what is written into a card must not come into another one
        (part) => this.#part(answer, part, going),
      )}
      ${cardsAndSources(answer.attachments)}
      ${answer.continued
        ? html`<p class="notice">${icon("refresh-cw")}Continued after an interruption.</p>`
        : nothing}
      ${going ? working(answer) : this.#outcome(answer)} ${this.#helper(answer)}
    `;
  }

  updated() {
    const dialog = this.querySelector("dialog.helper");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }

  /** @param {Answer} answer */
  #helper(answer) {
    const step = answer.steps.get(this.opened);
    if (!step) return nothing;
    return helperDialog(step, { redraw: () => this.requestUpdate(), close: () => (this.opened = "") });
  }

  /** @param {Answer} answer @param {Part} part @param {boolean} going */
  #part(answer, part, going) {
    if (part.kind === "steps") return stepList(part.steps, () => this.requestUpdate(), answer.expired);
    if (part.kind === "notice") return html`<p class="notice" dir="auto">${icon("circle-alert")}${part.text}</p>`;
    if (part.kind === "interaction")
      return html`<chat-interaction .interaction=${part.interaction} .version=${answer.version}
        .status=${answer.status}></chat-interaction>`;
    const complete = !going || part !== answer.parts.at(-1);
    return html`<markdown-text class="answer-text" .text=${part.text} .complete=${complete}
      .annotations=${[...answer.annotations]}
      .sources=${sourcesOf(answer.attachments)}></markdown-text>`;
  }

  /** @param {Answer} answer */
  #outcome(answer) {
    return html`${answer.status === "failed" ? this.#failure(answer) : nothing}
      ${answer.status === "stopped" ? this.#stopped(answer) : nothing}
      ${answer.status === "done" ? endingNotice(answer) : nothing}
      ${memoryLine(answer.message?.memories)} ${this.#foot(answer)}`;
  }

  /** @param {Answer} answer */
  #stopped(answer) {
    const words = textOf(answer).trim() ? "The answer is not complete." : "There is no answer.";
    return html`<div class="stopped">
      <p class="notice"><strong>Stopped.</strong> ${words}</p>
      ${this.#retryButton(answer)}
    </div>`;
  }

  /** The new attempt takes the place of this one. @param {Answer} answer */
  #retryButton({ id, question, questionFiles }) {
    if (!this.retryable || !(question || questionFiles.length)) return nothing;
    const detail = { text: question, attachments: questionFiles, replaces: id };
    const retry = () => this.dispatchEvent(new CustomEvent("retry", { bubbles: true, detail }));
    return html`<button type="button" class="button" @click=${retry}>${icon("refresh-cw")}Retry</button>`;
  }

  /** @param {Answer} answer */
  #failure(answer) {
    const { error } = answer;
    return html`<div class="failure">
      ${icon("triangle-alert")}
      <div>
        <p>${error?.text ?? "The answer could not be finished."}</p>
        ${error?.reference
          ? html`<p class="failure-reference">Reference: <code>${error.reference}</code></p>`
          : nothing}
        ${this.#retryButton(answer)}
      </div>
    </div>`;
  }

  /** @param {Answer} answer */
  #foot(answer) {
    const text = textOf(answer);
    return html`<div class="answer-foot">
      ${text
        ? html`<button type="button" class="quiet" @click=${() => this.#copy(text)}>
            ${icon(this.copied ? "check" : "copy")}<span aria-live="polite"
              >${this.copied ? "Copied" : "Copy"}</span
            >
          </button>`
        : nothing}
      ${answer.message && document.getElementById("main")?.dataset.requests
        ? html`<a class="quiet" href="/answers/${answer.id}/requests/" target="_blank" rel="noopener"
            >${icon("file-text")}What the model saw<span class="visually-hidden"> (a new tab)</span></a
          >`
        : nothing}
      ${feedbackOn(answer.message?.id)} ${figureLine(answer.message)}
    </div>`;
  }

  /** @param {string} text */
  async #copy(text) {
    this.copied = await copy(text);
    setTimeout(() => (this.copied = false), COPIED_FOR);
  }
}
customElements.define("chat-answer", ChatAnswer);

/** @param {Answer} answer */
function working(answer) {
  const words = wordsFor(answer);
  return html`<p class="working"><span class="dots" aria-hidden="true"></span>${words}…</p>`;
}

/** @param {Answer} answer */
function endingNotice(answer) {
  if (answer.message?.finish_reason === "length")
    return html`<p class="notice">${icon("triangle-alert")}Cut off: the answer became too long for the model.</p>`;
  const isEmpty = answer.message && !textOf(answer).trim() && !answer.attachments.length;
  return isEmpty ? html`<p class="notice">The model had nothing to say.</p>` : nothing;
}

/** @param {Answer} answer */
function wordsFor(answer) {
  if (answer.status === "queued") return "Waiting for its turn";
  if (answer.status === "waiting") {
    if (openInteraction(answer)) return "Waiting for you";
    return interactionsOf(answer).some(isOpenCall) ? "Working on the page" : "Waiting for somebody else";
  }
  return answer.parts.length ? "Working" : "Thinking";
}
