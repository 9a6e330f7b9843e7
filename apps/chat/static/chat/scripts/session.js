/** One conversation on one connection: what is asked arrives once, what is missed is fetched. */

import { Conversation } from "./conversation.js";

/**
 * @import { Connection } from "./connection.js"
 * @import { Attachment, Event, Frame, Opened, Refusal } from "./frames.js"
 *
 * @typedef {"connecting" | "open" | "lost" | "refused"} ConnectionState
 */

/** Milliseconds without a word on a question before the connection counts as dead. */
const PATIENCE = 10_000;

/**
 * Dispatches `change` (something is to be shown), `opened`, `event` (detail: a live event that was
 * taken) and `refused` (detail: `{text, question, attachments}`: the question to give back or "").
 */
export class Session extends EventTarget {
  /** @type {ConnectionState} */
  state = "connecting";
  conversation;
  /** Whether everything that was said before has been replayed. */
  loaded;
  #connection;
  /** @type {{id: string, text: string, attachments: Attachment[]} | null} the question that the server has not confirmed */
  #pending = null;
  #patience = 0;
  #stopping = false;
  #replayedUntil = 0;

  /**
   * @param {Connection} connection
   * @param {string | null} id of a conversation to follow
   * @param {string} begin the id that a new one shall have
   */
  constructor(connection, id, begin) {
    super();
    this.begin = begin;
    this.conversation = new Conversation(id);
    this.loaded = id === null;
    this.#connection = connection;
    connection.addEventListener("open", () => this.#resume());
    connection.addEventListener("lost", () => this.#become("lost"));
    connection.addEventListener("refused", () => this.#become("refused"));
    connection.addEventListener("frame", (event) =>
      this.#receive(/** @type {CustomEvent<Frame>} */ (event).detail),
    );
  }

  /** Whether a question waits for its answer. */
  get busy() {
    const { awaiting, running } = this.conversation;
    return this.#pending !== null || awaiting || running !== null;
  }

  /** @param {string} written @param {Attachment[]} [attachments] that are stored */
  ask(written, attachments = []) {
    if (this.busy) return;
    // As it will be stored, so that it is recognised when it comes back.
    const text = written.toWellFormed().replaceAll("\0", "\uFFFD");
    this.#pending = { id: uuid(), text, attachments };
    this.conversation.expect(this.#pending.id, text, attachments);
    this.#sendPending();
    this.#tell("change");
  }

  stop() {
    if (!this.busy) return;
    this.#stopping = !this.#connection.send({ type: "stop" });
  }

  #resume() {
    this.#become("open");
    const { id, last } = this.conversation;
    if (id) this.#connection.send({ type: "open", conversation: id, after: last });
    this.#sendPending();
    if (this.#stopping) this.stop();
  }

  #sendPending() {
    if (!this.#pending) return;
    const { id, text, attachments } = this.#pending;
    const sent = this.#connection.send({
      type: "ask",
      id,
      text,
      conversation: this.conversation.id,
      begin: this.begin,
      attachments: attachments.map(({ url }) => ({ url })),
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "",
    });
    clearTimeout(this.#patience);
    if (sent) this.#patience = setTimeout(() => this.#connection.restart(), PATIENCE);
  }

  #confirm() {
    this.#pending = null;
    clearTimeout(this.#patience);
  }

  /** @param {Frame} frame */
  #receive(frame) {
    if (frame.type === "error") this.#refuse(frame);
    else if (frame.type === "conversation.opened") this.#open(frame);
    else this.#take(frame);
    this.#tell("change");
  }

  /** @param {Opened} frame */
  #open(frame) {
    const { conversation } = this;
    const isNew = conversation.id === null;
    if (!isNew && conversation.id !== frame.conversation) return;
    conversation.id = frame.conversation;
    conversation.title = frame.title;
    // What a new conversation begins with is news.
    this.#replayedUntil = isNew ? 0 : frame.last;
    if (frame.last <= conversation.last) {
      if (frame.run === null) conversation.settle();
      else if (conversation.running === null) conversation.awaiting = true;
    }
    this.#markLoaded();
    this.#tell("opened", { isNew });
  }

  /** @param {Event} event */
  #take(event) {
    if (!this.conversation.take(event)) return;
    const { type, message } = /** @type {Event & {message?: {id: string, text: string}}} */ (event);
    if (type === "message.added" && this.#pending && message) {
      const { id, text } = this.#pending;
      if (message.id === id || event.run === id || message.text === text) this.#confirm();
    }
    this.#markLoaded();
    if (!this.busy) this.#stopping = false;
    if (event.seq > this.#replayedUntil) this.#tell("event", event);
  }

  /** @param {Refusal} refusal */
  #refuse({ text, code }) {
    if (code === "no_run") return; // it ended while the wish to stop it was on its way
    const { text: question = "", attachments = [] } = this.#pending ?? {};
    if (this.#pending) this.conversation.withdraw(this.#pending.id);
    this.#confirm();
    this.loaded = true;
    this.#tell("refused", { text, code, question, attachments });
  }

  #markLoaded() {
    if (this.conversation.last >= this.#replayedUntil) this.loaded = true;
  }

  /** @param {ConnectionState} state */
  #become(state) {
    this.state = state;
    if (state !== "open") clearTimeout(this.#patience);
    this.#tell("change");
  }

  /** @param {string} name @param {unknown} [detail] */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** `crypto.randomUUID` exists on secure origins only, and a server on a local network is none. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
