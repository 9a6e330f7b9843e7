/** Neighboring turns. Far from the viewport, an empty box of the same height replaces them. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { textOf } from "../session/answers.js";
import { summaryBlock } from "./gauge.js";
import { messageOf } from "./shown-turns.js";
import "../answer/answer.js";
import "./question.js";

/**
 * @import { Answer } from "../session/answers.js"
 * @import { Question } from "../session/conversation.js"
 * @import { Branch } from "../session/frames.js"
 * @import { Summary } from "./gauge.js"
 * @import { ShownTurn } from "./shown-turns.js"
 */

export class ChatTurns extends LitElement {
  static properties = {
    turns: { attribute: false, hasChanged: areOthers },
    state: { attribute: false },
    last: { attribute: false },
    branches: { attribute: false },
    changeable: { attribute: false },
    limit: { attribute: false },
    summary: { attribute: false },
    near: { attribute: false },
  };

  constructor() {
    super();
    /** @type {ShownTurn[]} */
    this.turns = [];
    /** Changes with the turns. */
    this.state = "";
    /** True for the newest turns, which are always drawn. */
    this.last = false;
    /** @type {Record<string, Branch>} by the ids of questions, and of the runs of answers */
    this.branches = {};
    /** True if branches can be created, shown and deleted. */
    this.changeable = false;
    /** The maximum number of characters of a question. */
    this.limit = Infinity;
    /** @type {Summary | null} */
    this.summary = null;
    /** True if they are in view, or soon will be. */
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
    return html`${repeat(
      this.turns,
      ({ turn }) => `${turn.role} ${turn.id}`,
      (shown) => (shown.turn.role === "user" ? this.#question(shown.turn) : this.#answer(shown.turn, shown)),
    )}`;
  }

  /** Turns with the focus or a selection stay drawn. */
  #rests() {
    if (this.near || this.last || !this.height || this.contains(document.activeElement)) return false;
    const selection = document.getSelection();
    return !selection || selection.isCollapsed || !selection.containsNode(this, true);
  }

  /** The plain text, for the browser's find-in-page. */
  #findable() {
    const words = this.turns.map(({ turn }) => (turn.role === "user" ? turn.text : textOf(turn))).join("\n");
    return html`<div hidden="until-found" @beforematch=${() => (this.near = true)}>${words}</div>`;
  }

  /** @param {Question} turn */
  #question(turn) {
    return html`<chat-question
      class="turn question"
      id="message-${turn.id}"
      .question=${turn}
      .state=${turn.sending ? "sending" : "stored"}
      .branch=${this.branches[turn.id]}
      .changeable=${this.changeable && !turn.sending}
      .limit=${this.limit}
    ></chat-question>`;
  }

  /** @param {Answer} answer @param {ShownTurn} shown */
  #answer(answer, { asked, earlier, goesOn, isLast }) {
    const message = messageOf(answer);
    return html`<chat-answer
        class="turn answer"
        id=${message ? `message-${message}` : nothing}
        .answer=${answer}
        .version=${answer.version}
        .asked=${asked}
        .earlier=${earlier}
        .goesOn=${goesOn}
        .isLast=${isLast}
        .branch=${this.branches[earlier[0]?.id ?? answer.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary && this.summary.after === answer.id ? summaryBlock(this.summary) : nothing}`;
  }
}
customElements.define("chat-turns", ChatTurns);

/** @param {ShownTurn[]} turns @returns {string} that changes whenever one of them does */
export function stateOf(turns) {
  return turns.map(({ turn }) => (turn.role === "user" ? Number(turn.sending) : turn.version)).join();
}

/** @param {ShownTurn[]} turns @param {ShownTurn[] | undefined} before */
function areOthers(turns, before) {
  return turns.length !== before?.length || turns.some((one, index) => isOther(one, before[index]));
}

/** @param {ShownTurn} one @param {ShownTurn} before */
function isOther(one, before) {
  return (
    one.turn !== before.turn ||
    one.asked !== before.asked ||
    one.earlier.length !== before.earlier.length ||
    one.goesOn !== before.goesOn ||
    one.isLast !== before.isLast
  );
}
