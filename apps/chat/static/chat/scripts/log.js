/** The turns of a conversation, or what there is to know before the first one. */

import { html, LitElement, nothing, repeat } from "../vendor/lit.js";
import { icon } from "./icons.js";
import { stateOf } from "./turns.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Question } from "./conversation.js"
 * @import { Summary } from "./gauge.js"
 * @import { ChatTurns } from "./turns.js"
 *
 * @typedef {{before?: string, after?: string}} Missing the run next to turns that are not loaded
 * @typedef {{title: string, text: string}} Starter
 * @typedef {object} Starters
 * @property {string} intro_text
 * @property {boolean} auto_submit
 * @property {boolean} chat_message_input_disabled
 * @property {Starter[]} starters
 */

/** Turns in one group: two or three of them fill a screen. */
const GROUP = 8;
/** How far from the screen turns are drawn, and missing ones fetched. */
const DRAWN = "1200px 0px";
const FETCHED = "800px 0px";

/** Dispatches `starter` (detail: the starter), `gap` (detail: what is missing), and lets the answers' `retry` and `answer` through. */
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
    problem: { attribute: false },
  };

  #sight = new IntersectionObserver((entries) => this.#place(entries), { rootMargin: DRAWN });
  #gaps = new IntersectionObserver((entries) => this.#meet(entries), { rootMargin: FETCHED });

  constructor() {
    super();
    /** @type {(Question | Answer)[]} */
    this.turns = [];
    this.loaded = true;
    this.busy = false;
    this.heading = "";
    this.description = "";
    /** What stands on the application's tile, and the number of its colour. */
    this.letters = this.tile = "";
    /** Whether nothing can be asked any more. */
    this.ended = false;
    /** @type {Summary | null} what the model reads in place of the beginning */
    this.summary = null;
    /** Why missing turns could not be loaded, or "". */
    this.problem = "";
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

  connectedCallback() {
    super.connectedCallback();
    addEventListener("beforeprint", this.#drawAll);
    addEventListener("afterprint", this.#lookAgain);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    removeEventListener("beforeprint", this.#drawAll);
    removeEventListener("afterprint", this.#lookAgain);
    this.#sight.disconnect();
    this.#gaps.disconnect();
  }

  render() {
    if (!this.loaded) return html`<p class="loading working">Loading the conversation…</p>`;
    if (!this.turns.length) return this.#welcome();
    const rows = rowsOf(this.turns);
    const last = rows.at(-1);
    return html`${repeat(
      rows,
      ({ key }) => key,
      (row) => (row.missing ? this.#gap(row.missing) : this.#turns(row.turns, row === last)),
    )}
    ${this.starters.chat_message_input_disabled && !this.busy ? this.#starters() : nothing}`;
  }

  updated() {
    for (const group of this.#groups) this.#sight.observe(group);
    this.#gaps.disconnect();
    // One that is still in sight is told of again.
    if (!this.problem) for (const gap of this.querySelectorAll(".gap")) this.#gaps.observe(gap);
  }

  /**
   * Make a change above or below what is read, which stays where it is.
   * @param {() => void} change
   */
  async keepPlace(change) {
    const anchor = [...this.querySelectorAll(".turn")].find((turn) => turn.getBoundingClientRect().bottom > 0);
    const before = anchor?.getBoundingClientRect().top ?? 0;
    change();
    await this.#drawn();
    if (anchor?.isConnected) scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
  }

  /** Elements draw one inside of another; nobody can scroll before all have. */
  async #drawn() {
    await this.updateComplete;
    await Promise.all(this.#groups.map((group) => group.updateComplete));
    const answers = [...this.querySelectorAll("chat-answer")];
    await Promise.all(answers.map((answer) => /** @type {LitElement} */ (answer).updateComplete));
  }

  /** Go to a message. @param {string} id @returns {Promise<boolean>} false if it is not loaded */
  async reveal(id) {
    const turn = this.turns.find((one) => messageOf(one) === id);
    await this.updateComplete;
    const group = turn && this.#groups.find(({ turns }) => turns.includes(turn));
    if (!group) return false;
    group.near = true;
    await this.#drawn();
    const shown = document.getElementById(`message-${id}`);
    if (!shown) return false;
    shown.tabIndex = -1;
    shown.scrollIntoView({ block: "start", behavior: "instant" });
    shown.focus({ preventScroll: true });
    return true;
  }

  /** @returns {ChatTurns[]} */
  get #groups() {
    return [...this.querySelectorAll("chat-turns")].map((group) => /** @type {ChatTurns} */ (group));
  }

  #drawAll = () => {
    for (const group of this.#groups) group.near = true;
  };

  #lookAgain = () => {
    this.#sight.disconnect();
    this.requestUpdate();
  };

  /** @param {IntersectionObserverEntry[]} entries */
  #place(entries) {
    void this.keepPlace(() => {
      for (const { target, isIntersecting, boundingClientRect } of entries)
        /** @type {ChatTurns} */ (target).place(isIntersecting, boundingClientRect.height);
    });
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #meet(entries) {
    const met = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    const missing = /** @type {{missing?: Missing} | undefined} */ (met)?.missing;
    if (missing) this.dispatchEvent(new CustomEvent("gap", { detail: missing }));
  }

  /** @param {(Question | Answer)[]} turns @param {boolean} isLast */
  #turns(turns, isLast) {
    return html`<chat-turns .turns=${turns} .state=${stateOf(turns)} .last=${isLast} .summary=${this.summary}
      .retryable=${isLast && !this.busy && !this.ended}></chat-turns>`;
  }

  /** @param {Missing} missing */
  #gap(missing) {
    const load = () => this.dispatchEvent(new CustomEvent("gap", { detail: missing }));
    return html`<div class="gap" .missing=${missing}>
      ${this.problem ? html`<p class="notice problem" role="alert">${icon("circle-alert")}<span>${this.problem}</span></p>` : nothing}
      <button type="button" class="button" @click=${load}>${missing.after ? "Show the next messages" : "Show earlier messages"}</button>
    </div>`;
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
}
customElements.define("chat-log", ChatLog);

/**
 * Turns in groups, which are the same whatever else is loaded, and between them what is not loaded.
 * @param {(Question | Answer)[]} turns
 */
function rowsOf(turns) {
  /** @type {{key: string, turns: (Question | Answer)[], missing?: Missing}[]} */
  const rows = [];
  let gaps = 0;
  let group = -1;
  /** @type {Question | Answer | undefined} */
  let last;
  for (const turn of turns) {
    if (turn.at > (last?.at ?? -1) + 1) {
      rows.push({ key: `gap ${gaps}`, turns: [], missing: last ? { after: runOf(last) } : { before: runOf(turn) } });
      gaps += 1;
      group = -1;
    }
    const own = Math.floor(turn.at / GROUP);
    if (own === group) rows.at(-1)?.turns.push(turn);
    else rows.push({ key: keyOf(own, last), turns: [turn] });
    group = own;
    last = turn;
  }
  return rows;
}

/** @param {number} group @param {Question | Answer | undefined} last the turn before it */
function keyOf(group, last) {
  // A group that a gap divides is two.
  return last && Math.floor(last.at / GROUP) === group ? `turns ${group} end` : `turns ${group}`;
}

/** @param {Question | Answer} turn */
function runOf(turn) {
  return turn.role === "user" ? (turn.run ?? "") : turn.id;
}

/** @param {Question | Answer} turn @returns {string | undefined} */
function messageOf(turn) {
  return turn.role === "user" ? turn.id : turn.message?.id;
}
