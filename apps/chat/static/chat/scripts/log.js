/** The turns of a conversation, or what there is to know before the first one. */

import { html, LitElement, nothing, repeat } from "../vendor/lit.js";
import { summaryBlock } from "./gauge.js";
import { icon } from "./icons.js";
import { turnDeletion } from "./turn-deletion.js";
import "./answer.js";
import "./question.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Question } from "./conversation.js"
 * @import { Branch } from "./frames.js"
 * @import { Summary } from "./gauge.js"
 *
 * @typedef {{title: string, text: string}} Starter
 * @typedef {object} Starters
 * @property {string} intro_text
 * @property {boolean} auto_submit
 * @property {boolean} chat_message_input_disabled
 * @property {Starter[]} starters
 */

const SHOWN_CHARACTERS = 200;

/**
 * Dispatches `starter` (detail: the starter) and lets through: `answer` of the cards, `branch-ask` and
 * `branch-change` of the turns. A deletion is only let through once the person has confirmed it.
 */
export class ChatLog extends LitElement {
  static properties = {
    turns: { attribute: false },
    loaded: { attribute: false },
    busy: { attribute: false },
    branches: { attribute: false },
    deleting: { state: true },
    heading: { attribute: false },
    description: { attribute: false },
    starters: { attribute: false },
    ended: { attribute: false },
    letters: { attribute: false },
    tile: { attribute: false },
    summary: { attribute: false },
  };

  constructor() {
    super();
    /** @type {(Question | Answer)[]} */
    this.turns = [];
    this.loaded = true;
    this.busy = false;
    /** @type {Record<string, Branch>} */
    this.branches = {};
    /** @type {{message: string, origin: Element} | null} the turn that the person is asked about */
    this.deleting = null;
    this.limit = Infinity;
    this.addEventListener("branch-change", (event) => this.#askFirst(/** @type {CustomEvent} */ (event)));
    this.heading = "";
    this.description = "";
    /** What stands on the application's tile, and the number of its colour. */
    this.letters = this.tile = "";
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
    return html`${repeat(
      shownTurns(this.turns),
      ({ turn }) => `${turn.role} ${turn.id}`,
      (shown) => (shown.turn.role === "user" ? this.#question(shown.turn) : this.#answer(shown.turn, shown)),
    )}
    ${this.starters.chat_message_input_disabled && !this.busy ? this.#starters() : nothing}
    ${this.deleting ? this.#deletion(this.deleting) : nothing}`;
  }

  updated() {
    const dialog = this.querySelector("dialog.turn-deletion");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }

  get #isChangeable() {
    return !this.busy && !this.ended;
  }

  /** @param {CustomEvent} event */
  #askFirst(event) {
    const { type, message, isConfirmed } = event.detail;
    if (type !== "turn.delete" || isConfirmed) return;
    event.stopImmediatePropagation();
    this.deleting = { message, origin: /** @type {Element} */ (event.target) };
  }

  /** @param {{message: string, origin: Element}} deleting */
  #deletion({ message, origin }) {
    const turn = this.turns.find(({ id }) => id === message);
    const cancel = () => {
      this.deleting = null;
      /** @type {import("./answer-actions.js").ActionRow | null} */ (origin.querySelector("action-row"))?.focusOn("delete");
    };
    const confirm = () => {
      this.deleting = null;
      const detail = { type: "turn.delete", message, name: "delete", isConfirmed: true };
      this.dispatchEvent(new CustomEvent("branch-change", { detail }));
    };
    return turnDeletion({ text: turn?.role === "user" ? turn.text.slice(0, SHOWN_CHARACTERS) : "", cancel, confirm });
  }

  #welcome() {
    return html`<div class="welcome">
      <span class="monogram large" data-tile=${this.tile} aria-hidden="true">${this.letters}</span>
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

  /** @param {Question} turn */
  #question(turn) {
    return html`<chat-question
      class="turn question"
      data-turn=${turn.id}
      .question=${turn}
      .state=${turn.sending ? "sending" : "stored"}
      .branch=${this.branches[turn.id]}
      .changeable=${this.#isChangeable && !turn.sending}
      .limit=${this.limit}
    ></chat-question>`;
  }

  /** @param {Answer} answer @param {ShownTurn} shown */
  #answer(answer, { asked, earlier, goesOn, isLast }) {
    return html`<chat-answer
        class="turn answer"
        data-turn=${answer.id}
        .answer=${answer}
        .version=${answer.version}
        .asked=${asked}
        .earlier=${earlier}
        .goesOn=${goesOn}
        .isLast=${isLast}
        .branch=${this.branches[earlier[0]?.id ?? answer.id]}
        .changeable=${this.#isChangeable}
      ></chat-answer>
      ${this.summary && this.summary.after === answer.id ? summaryBlock(this.summary) : nothing}`;
  }
}
customElements.define("chat-log", ChatLog);

/**
 * A turn as it is shown: an answer that was cut and the one that continues it are read as one.
 *
 * @typedef {object} ShownTurn
 * @property {Question | Answer} turn
 * @property {Question} [asked] the question that an answer answers
 * @property {Answer[]} earlier the answers that it continues
 * @property {boolean} goesOn whether another answer continues it
 * @property {boolean} isLast
 */

/** @param {(Question | Answer)[]} turns @returns {ShownTurn[]} without the questions that let an answer go on */
function shownTurns(turns) {
  /** @type {ShownTurn[]} */
  const shown = [];
  for (const turn of turns) {
    const last = shown.at(-1);
    if (turn.role === "user" && turn.sender?.kind === "continuation") {
      if (last?.turn.role === "assistant") last.goesOn = true;
      continue;
    }
    const goneOn = turn.role === "assistant" && last?.turn.role === "assistant" && last.goesOn;
    shown.push({
      turn,
      asked: goneOn ? last.asked : last?.turn.role === "user" ? last.turn : undefined,
      earlier: goneOn ? [...last.earlier, /** @type {Answer} */ (last.turn)] : [],
      goesOn: false,
      isLast: false,
    });
  }
  const last = shown.at(-1);
  if (last) last.isLast = true;
  return shown;
}
