/** One conversation on one connection: each question arrives exactly once, and missed events are fetched. */

import { Conversation } from "./conversation.js";
import { interactionsOf, openQuestion } from "./interactions.js";
import { gettext } from "../texts.js";

/**
 * @import { Connection } from "./connection.js"
 * @import { Answer } from "./answers.js"
 * @import { Attachment, Event, Frame, InteractionAnswer, Opened, Queued, QueueChanged, Refusal, ResultsExpired, StoredMessage, WholeTurn } from "./frames.js"
 *
 * @typedef {{again?: string, edits?: string, continues?: string, deployment?: string}} Branching ids of messages, and of the model that answers again: as the frame `ask` has them
 *
 * @typedef {{id: string, text: string, attachments: Attachment[]} & Branching} Asked
 *
 * @typedef {"connecting" | "open" | "lost" | "refused"} ConnectionState
 */

/** Milliseconds without a response to a question or an answer after which the connection counts as dead. */
const PATIENCE = 10_000;
/** @type {{text: string, attachments: Attachment[]}} */
const NOTHING = { text: "", attachments: [] };
const NOT_SENT = gettext("There is no connection. Try again when you’re back online.");
const MAYBE_NOT_SENT = gettext("The connection was lost. Send your answer again.");

/**
 * Dispatches `change` (redraw), `opened`, `switched` (another conversation is shown), `reopened` (another path through it is shown), `event` (detail: a live event that was applied), `listed` (detail: the changes of the conversation list), `folders` (detail: all of them), `calling` (detail: the conversations that need attention), `moved` (the user works in another team), `queued` (detail: a message that was queued) and `refused` (detail: `{text, question, attachments}`: the question to restore, or "").
 */
export class Session extends EventTarget {
  /** @type {ConnectionState} */
  state = "connecting";
  conversation;
  /** @type {Queued[]} messages that are sent after the answer */
  queue = [];
  /** True if all earlier events have been replayed. */
  loaded;
  /** The reason why nothing can be sent during maintenance, or "". */
  readOnly = "";
  /** The run of the last question from this page. */
  asked = "";
  #connection;
  /** @type {Asked | null} the question that the server has not confirmed */
  #pending = null;
  /** The free-text answer to a question, until the server has confirmed it. */
  #words = "";
  /** @type {{id: string, text: string} | null} the queued message that was changed last */
  #changed = null;
  /** @type {Asked[]} questions after the pending one */
  #later = [];
  #patience = 0;
  #stopping = false;
  #replayedUntil = 0;
  /** The number after which events were last requested. */
  #openedAfter = 0;
  /** @type {Conversation | null} the reloaded conversation, until all its events are read */
  #next = null;
  /** True if frames of the previous path may still arrive. */
  #isReopening = false;
  /** The IDs of the previous frame, which the next one omits. */
  #ids = { conversation: "", run: "" };
  /** @type {Set<string>} conversations that were open before */
  #left = new Set();

  /**
   * @param {Connection} connection
   * @param {string | null} id of a conversation to follow
   * @param {string} begin the id that a new one shall have
   */
  constructor(connection, id, begin) {
    super();
    this.begin = begin;
    /** The slug of the application. */
    this.application = "";
    /** True if a new conversation may use memories of the user. */
    this.memory = true;
    /** True if the conversation, or a new one, is temporary. */
    this.temporary = false;
    /** The thinking effort of a new conversation; "" for the default. */
    this.effort = "";
    /** The toolsets of a new conversation that are on or off. @type {Record<string, boolean>} */
    this.tools = {};
    /** The ID of the model of a new conversation; "" for the default. */
    this.deployment = "";
    /** The slug of the user's place, and a description of what the user is viewing. */
    this.place = this.narrative = "";
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

  /**
   * Show another conversation, or none yet, on the same connection.
   * @param {string | null} id @param {string} begin the id that a new one shall have
   * @param {string} application its slug
   * @returns {{text: string, isSent: boolean}} the question that the server has not confirmed
   */
  switchTo(id, begin, application) {
    const unconfirmed = this.#pending;
    if (this.conversation.id) this.#left.add(this.conversation.id);
    if (id) this.#left.delete(id);
    clearTimeout(this.#patience);
    this.#pending = this.#changed = null;
    this.#later = [];
    this.queue = [];
    this.#words = this.asked = "";
    this.#stopping = this.#isReopening = false;
    this.#next = null;
    this.#replayedUntil = this.#openedAfter = 0;
    this.#ids = { conversation: "", run: "" };
    this.begin = begin;
    this.application = application;
    this.conversation = new Conversation(id);
    this.loaded = id === null;
    this.#tell("switched");
    const isSent = this.#openAfter(0);
    this.#tell("change");
    return { text: unconfirmed?.text ?? "", isSent };
  }

  /** True if a question waits for its answer. */
  get busy() {
    // The answer may have begun on a branch that is still being loaded.
    const loaded = [this.conversation, ...(this.#next ? [this.#next] : [])];
    return this.#pending !== null || loaded.some(({ awaiting, running }) => awaiting || running !== null);
  }

  /** Questions that the server has not confirmed, in the order of sending. */
  get unsent() {
    return this.#pending ? [this.#pending, ...this.#later] : [];
  }

  /** The texts of messages that are being sent and are not turns yet. */
  get sendingToQueue() {
    const { turns } = this.conversation;
    // A repeated question is among the turns already, and is never queued.
    const added = this.unsent.filter(({ id, again }) => !again && turns.every((turn) => turn.id !== id));
    return added.map(({ text }) => text || gettext("Files"));
  }

  /**
   * Ask; while an answer is in progress, the message is queued.
   * @param {string} written @param {Attachment[]} [attachments] that are stored
   * @param {Branching} [branching] the position of a new branch
   */
  ask(written, attachments = [], branching = {}) {
    // In the stored form, so that it is recognized when the server returns it.
    const text = written.toWellFormed().replaceAll("\0", "\uFFFD");
    const message = { id: uuid(), text, attachments, ...branching };
    if (!this.busy) this.conversation.expect(message);
    this.#later.push(message);
    if (!this.#pending) this.#sendNext();
    this.#tell("change");
  }

  /** Send questions again that may not have arrived. @param {Asked[]} questions with their ids, so that each counts once */
  askAgain(questions) {
    this.#later.push(...questions);
    if (!this.#pending) this.#sendNext();
  }

  /** Answer the question that accepts free text. @param {string} text */
  answerWords(text) {
    const card = openQuestion(this.conversation.running);
    if (!card) return;
    this.#words = text;
    this.answer({ ...card, answer: { outcome: "answered", choices: [], text } });
  }

  /**
   * Change a queued message, remove it, or send it now.
   * @param {"queue.change" | "queue.remove" | "queue.send"} type
   * @param {string} id
   * @param {{text?: string, held?: boolean}} [changes]
   */
  queueOrder(type, id, changes = {}) {
    const { text } = changes;
    if (text !== undefined) this.#changed = { id, text };
    if (!this.#connection.send({ type, id, ...changes })) this.#refuse({ type: "error", text: NOT_SENT, code: "not_sent" });
  }

  /** Show another branch, or delete a turn. @param {"branch.switch" | "turn.delete"} type @param {string} message */
  changeBranches(type, message) {
    const { id } = this.conversation;
    if (!this.#connection.send({ type, conversation: id, message })) this.#refuse({ type: "error", text: NOT_SENT, code: "not_sent" });
  }

  /** Load the conversation again, because another path is shown, and show it once its end has arrived. */
  reopen() {
    const { id, title } = this.conversation;
    this.#next = new Conversation(id);
    this.#next.title = title;
    this.#isReopening = true;
    this.#openAfter(0);
  }

  /** From the interruption, or by its last turns. @param {number} after */
  #openAfter(after) {
    this.#openedAfter = after;
    const { application } = this;
    const how = after ? { after } : { after, window: true };
    return this.#connection.send({ type: "open", conversation: this.conversation.id, application, ...how });
  }

  /** Events that arrive while the page is hidden are not seen. */
  tellVisibility() {
    this.#connection.send({ type: "visibility", hidden: document.hidden });
  }

  stop() {
    if (!this.busy) return;
    this.#stopping = !this.#connection.send({ type: "stop" });
  }

  /** Stop one sub-agent; the answer continues. @param {string} key */
  stopSubagent(key) {
    if (!this.#connection.send({ type: "helper.stop", key })) this.#refuse({ type: "error", text: NOT_SENT, code: "not_sent" });
  }

  /**
   * Answer a card of the waiting answer.
   * @param {{key: string, kind: string, answer: InteractionAnswer}} given
   */
  answer({ key, kind, answer }) {
    const { running } = this.conversation;
    const card = running && interactionsOf(running).find((one) => one.key === key && one.kind === kind);
    if (!running || !card || card.sending) return;
    card.sending = this.#connection.send({ type: "answer", run: running.id, key, kind, answer });
    if (card.sending) setTimeout(() => card.sending && this.#connection.restart(), PATIENCE);
    else this.#tell("refused", { text: NOT_SENT, question: "", attachments: [] });
    this.#redraw(running);
  }

  /** Answers that were being sent may be sent again: only one of them counts. */
  #allowAnswers() {
    const { running } = this.conversation;
    if (!running) return;
    for (const card of interactionsOf(running)) card.sending = false;
    this.#redraw(running);
  }

  /** Show fetched turns. @param {WholeTurn[]} turns */
  insert(turns) {
    this.conversation.insert(turns);
    this.#tell("change");
  }

  /** Show all of a truncated step. @param {WholeTurn} turn @param {string} step */
  completeStep(turn, step) {
    this.conversation.complete(turn, step);
    this.#tell("change");
  }

  /** @param {string} [run] whose answer changed without events */
  redraw(run) {
    const { running } = this.conversation;
    if (run && running?.id === run) this.#redraw(running);
    else if (!run) this.#tell("change");
  }

  /** @param {Answer} answer */
  #redraw(answer) {
    answer.version += 1;
    this.#tell("change");
  }

  #resume() {
    this.#become("open");
    if (document.hidden) this.tellVisibility();
    this.#allowAnswers();
    const { id, last } = this.conversation;
    if (id && this.#next) this.reopen();
    else if (id && id !== this.#connection.opens) this.#openAfter(last);
    this.#connection.send({ type: "watch" });
    this.#sendPending();
    if (this.#stopping) this.stop();
  }

  #sendNext() {
    this.#pending = this.#later.shift() ?? null;
    this.#sendPending();
  }

  #sendPending() {
    if (!this.#pending) return;
    const { id, text, attachments, ...branching } = this.#pending;
    const sent = this.#connection.send({
      type: "ask",
      id,
      text,
      conversation: this.conversation.id,
      application: this.application,
      begin: this.begin,
      memory: this.memory,
      temporary: this.temporary,
      effort: this.effort,
      deployment: this.conversation.id ? "" : this.deployment,
      ...(this.conversation.id || !Object.keys(this.tools).length ? {} : { tools: this.tools }),
      place: this.place,
      narrative: this.narrative,
      attachments: attachments.map(({ url }) => ({ url })),
      while_running: "queue",
      ...branching,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "",
      surface: "page",
    });
    clearTimeout(this.#patience);
    if (sent) this.#patience = setTimeout(() => this.#connection.restart(), PATIENCE);
  }

  #confirm() {
    clearTimeout(this.#patience);
    this.#sendNext();
  }

  /** @param {Frame} frame */
  #receive(frame) {
    if (frame.type === "error") this.#refuse(frame);
    else if (frame.type === "conversation.opened") this.#open(frame);
    else if (frame.type === "queue.changed") this.#takeQueue(frame);
    else if (frame.type === "results.expired") this.#expire(frame);
    else if (frame.type === "team.changed") this.#tell("moved");
    else if (frame.type === "read_only.changed") this.readOnly = frame.text;
    else if (frame.type === "list.changed") this.#tell("listed", frame);
    else if (frame.type === "folders.changed") this.#tell("folders", frame.folders);
    else if (frame.type === "attention.changed") this.#tell("calling", frame);
    else this.#take(this.#whole(frame));
    this.#tell("change");
  }

  /** @param {QueueChanged} frame */
  #takeQueue({ conversation, messages }) {
    if (conversation !== this.conversation.id) return;
    this.queue = messages;
    const changed = messages.find(({ id }) => id === this.#changed?.id);
    if (changed?.text === this.#changed?.text) this.#changed = null;
    const mine = messages.find(({ request }) => request === this.#pending?.id);
    if (!mine) return;
    this.conversation.withdraw(mine.request);
    this.#confirm();
    this.#tell("queued", mine);
  }

  /** @param {ResultsExpired} frame */
  #expire(frame) {
    if (frame.conversation === this.conversation.id) (this.#next ?? this.conversation).expire(frame);
  }

  /** @param {Event} event @returns {Event} with its ids */
  #whole(event) {
    this.#ids.run = event.run ?? this.#ids.run;
    return { ...this.#ids, ...event };
  }

  /** @param {Opened} frame */
  #open(frame) {
    const conversation = this.#next ?? this.conversation;
    this.#isReopening = false;
    const isNew = conversation.id === null;
    if (isNew && this.#left.has(frame.conversation)) return; // A response to a request from before the conversation was left.
    this.#ids = { conversation: frame.conversation, run: "" };
    if (!isNew && conversation.id !== frame.conversation) return;
    conversation.id = frame.conversation;
    conversation.title = frame.title;
    conversation.branches = frame.branches ?? {};
    this.#showWindow(conversation, frame);
    // The first events of a new conversation are new.
    this.#replayedUntil = isNew ? 0 : frame.last;
    if (frame.last <= conversation.last) {
      if (frame.run === null) conversation.settle();
      else if (conversation.running === null) conversation.awaiting = true;
    }
    this.#exchange();
    this.#markLoaded();
    this.#giveWordsBack();
    this.#tell("opened", { isNew });
  }

  /** @param {Conversation} conversation @param {Opened} frame */
  #showWindow(conversation, { turns, after }) {
    if (!turns || conversation.last) return;
    conversation.insert(turns);
    conversation.last = after ?? 0;
    const pending = this.#pending;
    if (pending && turns.some((turn) => answers(turn, pending))) this.#confirm();
  }

  /** @param {Event} event */
  #take(event) {
    if (this.#isReopening || !(this.#next ?? this.conversation).take(event)) return;
    // If a conversation is read from its beginning, its path is already current.
    const isPast = this.#openedAfter === 0 && event.seq <= this.#replayedUntil;
    if (event.type === "branches.changed" && !isPast) return this.reopen();
    if (event.type === "message.added" && this.#pending && isOf(event.message, this.#pending)) {
      this.asked = event.run;
      this.#confirm();
    }
    this.#exchange();
    const { type } = event;
    this.#markLoaded();
    if (type === "interaction.resolved") this.#words = "";
    this.#giveWordsBack();
    if (!this.busy) this.#stopping = false;
    if (event.seq > this.#replayedUntil) this.#tell("event", event);
  }

  /** @param {Refusal} refusal */
  #refuse({ text, code }) {
    if (code === "no_run" || code === "no_helper") return; // It ended while the stop request was being sent.
    if (code === "not_queued" || code === "not_sent") {
      this.#tell("refused", { text, code, question: this.#changed?.text ?? "", attachments: [] });
      this.#changed = null;
      return;
    }
    this.#allowAnswers();
    const pending = this.#pending;
    // A repeated question that was rejected stays at its position.
    const isAgain = pending?.again || pending?.continues;
    const { text: question, attachments } = isAgain ? NOTHING : (pending ?? { ...NOTHING, text: this.#words });
    this.#words = "";
    if (this.#pending) this.conversation.withdraw(this.#pending.id);
    this.#confirm();
    this.loaded = true;
    this.#tell("refused", { text, code, question, attachments });
  }

  /** Restore an answer that may have been lost with the connection. */
  #giveWordsBack() {
    const card = openQuestion(this.conversation.running);
    if (!this.#words || !card || this.conversation.last < this.#replayedUntil) return;
    this.#tell("refused", { text: MAYBE_NOT_SENT, code: "not_sent", question: this.#words, attachments: [] });
    this.#words = "";
  }

  /** Show the reloaded conversation once it is complete. */
  #exchange() {
    if (!this.#next || this.#next.last < this.#replayedUntil) return;
    this.conversation = this.#next;
    this.#next = null;
    this.#tell("reopened");
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

/** True if a finished turn belongs to the question from this page. @param {WholeTurn} turn @param {Asked} asked */
function answers({ run, events }, asked) {
  return run === asked.id || events.some((event) => event.type === "message.added" && isOf(event.message, asked));
}

/** True if the stored question is the one from this page. @param {StoredMessage} message @param {Asked} asked */
function isOf({ id, text, sender }, asked) {
  if (asked.continues) return sender?.kind === "continuation";
  return id === (asked.again ?? asked.id) || (!asked.again && text === asked.text);
}

/** `crypto.randomUUID` exists only on secure origins, and a server on a local network is not one. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
