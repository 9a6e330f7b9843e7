/** The state of a conversation, built from its events. It does not depend on the socket or the page. */

import { change, finish, isGoing } from "./answers.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Asked } from "./session.js"
 * @import { Attachment, Branch, Event, ResultsExpired, StoredMessage, WholeTurn } from "./frames.js"
 *
 * @typedef {object} Question
 * @property {"user"} role
 * @property {string} id
 * @property {number} at the place of its turn in the conversation
 * @property {string} [run] that answers it, once that is known
 * @property {string} text
 * @property {Attachment[]} attachments
 * @property {import("./frames.js").Place} [place] the place from which the user asked
 * @property {{slug: string, title: string}} [application] the application that answers from here on, if it changed
 * @property {import("./frames.js").Sender} [sender] the sender, if it is not the user
 * @property {string[]} [left_out] pictures and files that were missing from an import
 * @property {string} [created_at] once the server has confirmed it
 * @property {boolean} sending
 */

export class Conversation {
  /** @type {(Question | Answer)[]} */
  turns = [];
  title = "";
  /** The to-do list, as Markdown with checkboxes. */
  todo = "";
  /** The newest sequence number that was applied. */
  last = 0;
  /** True if a run is active whose first event has not arrived yet. */
  awaiting = false;
  /** @type {Record<string, Branch>} by the ids of questions and of the runs of answers */
  branches = {};
  /** @type {(Question | Answer)[]} turns that are hidden while another branch is being fetched */
  #replaced = [];

  /** @type {Map<string, Set<string>>} by run, the steps that the model reads no more */
  #expired = new Map();

  /** @param {string | null} id */
  constructor(id) {
    this.id = id;
  }

  /** @returns {Answer | null} the answer that is being made */
  get running() {
    const turn = this.turns.findLast((turn) => turn.role === "assistant");
    return turn && isGoing(turn.status) ? turn : null;
  }

  /**
   * Apply an event, once.
   * @param {Event} event
   * @returns {boolean} false when it was taken before or belongs elsewhere
   */
  take(event) {
    if (event.conversation !== this.id || event.seq <= this.last) return false;
    this.last = event.seq;
    this.awaiting = event.type === "message.added";
    if (event.type === "todo.changed") this.todo = event.text;
    if (event.type === "message.complete") this.todo = event.message.todo ?? this.todo;
    if (event.type === "message.added") this.#add(event.message, event.run);
    else if (event.type === "branches.changed") return true; // The session opens the conversation again.
    else change(this.#answer(event.run), event);
    return true;
  }

  /**
   * Show a question before the server has confirmed it.
   * @param {Asked} asked
   */
  expect({ id, text, attachments, again, edits, continues }) {
    const at = this.turns.findIndex((turn) => turn.role === "user" && turn.id === (again ?? edits));
    this.#replaced = at < 0 ? [] : this.turns.splice(again ? at + 1 : at);
    if (again) return;
    /** @type {Question} */
    const turn = { role: "user", id, at: this.#next, text, attachments, sending: true };
    if (continues) turn.sender = { kind: "continuation", title: "", untrusted: false };
    this.turns.push(turn);
  }

  /** Remove a question that the server rejected. @param {string} id */
  withdraw(id) {
    this.turns = [...this.turns.filter((turn) => turn.id !== id), ...this.#replaced];
    this.#replaced = [];
  }

  /**
   * Insert complete turns at their positions, each once.
   * @param {WholeTurn[]} whole
   */
  insert(whole) {
    const known = new Set(this.turns.map(({ at }) => at));
    const made = whole.filter(({ at }) => !known.has(at)).flatMap((turn) => this.#made(turn));
    this.turns = [...this.turns, ...made].sort((one, other) => one.at - other.at);
  }

  /** Replace the truncated content of a step. @param {WholeTurn} whole @param {string} step */
  complete(whole, step) {
    const known = this.turns.find((turn) => turn.role === "assistant" && turn.id === whole.run);
    const answer = this.#made(whole).find((turn) => turn.role === "assistant");
    if (known?.role !== "assistant" || answer?.role !== "assistant") return;
    const [cut, full] = [known.steps.get(step), answer.steps.get(step)];
    if (cut && full) Object.assign(cut, { text: full.text, length: 0 });
    known.version += 1;
  }

  /** @param {WholeTurn} whole @returns {(Question | Answer)[]} */
  #made({ run, at, events }) {
    const alone = new Conversation(this.id);
    alone.#expired = this.#expired;
    for (const [index, event] of events.entries()) {
      alone.take({ ...event, conversation: this.id ?? "", run, seq: index + 1 });
    }
    const isNewest = (this.turns.at(-1)?.at ?? -1) <= at;
    if (alone.todo && isNewest) this.todo = alone.todo;
    for (const turn of alone.turns) turn.at = at;
    return alone.turns;
  }

  /** True if all turns are loaded, from the first one on. */
  get isWhole() {
    return this.turns.every(({ at }, index) => at <= (this.turns[index - 1]?.at ?? -1) + 1);
  }

  /** The position of a new turn. */
  get #next() {
    return (this.turns.at(-1)?.at ?? -1) + 1;
  }

  /** @param {ResultsExpired} told */
  expire({ answers }) {
    this.#expired = new Map(Object.entries(answers).map(([run, steps]) => [run, new Set(steps)]));
    for (const turn of this.turns) {
      if (turn.role !== "assistant") continue;
      turn.expired = this.#expired.get(turn.id) ?? new Set();
      turn.version += 1;
    }
  }

  /** No run is active any longer, regardless of earlier events. */
  settle() {
    this.awaiting = false;
    const answer = this.running;
    if (answer) finish(answer, "stopped");
  }

  /** @param {StoredMessage} message @param {string} run */
  #add({ id, role, text, attachments = [], place, sender, application, left_out, created_at }, run) {
    if (role !== "user") return;
    this.#replaced = [];
    const known = this.turns.find(
      (turn) =>
        turn.role === "user" &&
        (turn.id === id || (turn.sending && (turn.text === text || isContinuation(turn, sender)))),
    );
    const stored = { id, run, text, attachments, place, sender, application, left_out, created_at, sending: false };
    if (known?.role === "user") Object.assign(known, stored);
    else this.#append(() => ({ role, at: this.#next, ...stored }));
  }

  /**
   * Append a turn after all turns of the server; unconfirmed questions stay last.
   * @template {Question | Answer} Turn
   * @param {() => Turn} make knows the place then
   */
  #append(make) {
    const sending = this.turns.filter((turn) => turn.role === "user" && turn.sending);
    if (sending.length) this.turns = this.turns.filter((turn) => !sending.includes(turn));
    const made = make();
    this.turns.push(made);
    for (const turn of sending) {
      turn.at = this.#next;
      this.turns.push(turn);
    }
    return made;
  }

  /** @param {string} run @returns {Answer} */
  #answer(run) {
    const known = this.turns.find((turn) => turn.role === "assistant" && turn.id === run);
    if (known?.role === "assistant") return known;
    return this.#append(() => this.#newAnswer(run));
  }

  /** @param {string} run @returns {Answer} */
  #newAnswer(run) {
    const question = this.turns.findLast((turn) => turn.role === "user");
    return {
      role: "assistant",
      id: run,
      at: question?.role === "user" && question.run === run ? question.at : this.#next,
      status: "queued",
      parts: [],
      steps: new Map(),
      attachments: [],
      annotations: [],
      error: null,
      message: null,
      expired: this.#expired.get(run) ?? new Set(),
      continued: false,
      version: 0,
    };
  }
}

/** @param {Question} turn @param {import("./frames.js").Sender} [sender] of the stored question */
function isContinuation(turn, sender) {
  return turn.sender?.kind === "continuation" && sender?.kind === "continuation";
}
