/**
 * What a conversation has said so far, built from its events. It knows neither socket nor page.
 *
 * @import { Attachment, Event, RunStatus, StoredMessage } from "./frames.js"
 *
 * @typedef {object} Step
 * @property {string} id
 * @property {string} title
 * @property {string} text Markdown
 * @property {"running" | "done" | "failed" | "stopped"} state
 * @property {number | null} seconds
 * @property {Attachment[]} attachments
 * @property {Step[]} children
 * @property {boolean} unfolded
 *
 * @typedef {{kind: "text", text: string} | {kind: "steps", steps: Step[]}} Part
 *
 * @typedef {object} Question
 * @property {"user"} role
 * @property {string} id
 * @property {string} text
 * @property {boolean} sending
 *
 * @typedef {object} Answer
 * @property {"assistant"} role
 * @property {string} id of its run
 * @property {RunStatus} status
 * @property {Part[]} parts in the order they came
 * @property {Map<string, Step>} steps
 * @property {Attachment[]} attachments
 * @property {{text: string, reference: string} | null} error
 * @property {StoredMessage | null} message
 * @property {string} question the text that it answers
 * @property {number} version grows with every change
 */

export class Conversation {
  /** @type {(Question | Answer)[]} */
  turns = [];
  title = "";
  /** The newest sequence number that was taken. */
  last = 0;

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
   * Take an event, once.
   * @param {Event} event
   * @returns {boolean} false when it was taken before or belongs elsewhere
   */
  take(event) {
    if (event.conversation !== this.id || event.seq <= this.last) return false;
    this.last = event.seq;
    if (event.type === "message.added") this.#add(event.message);
    else change(this.#answer(event.run), event);
    return true;
  }

  /** Show a question before the server has confirmed it. @param {string} id @param {string} text */
  expect(id, text) {
    this.turns.push({ role: "user", id, text, sending: true });
  }

  /** Take back a question that the server refused. @param {string} id */
  withdraw(id) {
    this.turns = this.turns.filter((turn) => turn.id !== id);
  }

  /** No run is going any more, whatever was said before. */
  settle() {
    const answer = this.running;
    if (answer) finish(answer, "stopped");
  }

  /** @param {StoredMessage} message */
  #add({ id, role, text }) {
    if (role !== "user") return;
    const known = this.turns.find(
      (turn) => turn.role === "user" && (turn.id === id || (turn.sending && turn.text === text)),
    );
    if (known?.role === "user") Object.assign(known, { id, text, sending: false });
    else this.turns.push({ role, id, text, sending: false });
  }

  /** @param {string} run @returns {Answer} */
  #answer(run) {
    const known = this.turns.find((turn) => turn.role === "assistant" && turn.id === run);
    if (known?.role === "assistant") return known;
    const question = this.turns.findLast((turn) => turn.role === "user");
    /** @type {Answer} */
    const answer = {
      role: "assistant",
      id: run,
      status: "queued",
      parts: [],
      steps: new Map(),
      attachments: [],
      error: null,
      message: null,
      question: question?.role === "user" ? question.text : "",
      version: 0,
    };
    this.turns.push(answer);
    return answer;
  }
}

/** @param {RunStatus} status */
export function isGoing(status) {
  return status === "queued" || status === "running";
}

/** @param {Answer} answer @returns {string} all of its Markdown */
export function textOf(answer) {
  return answer.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** @param {Answer} answer @param {Event} event */
function change(answer, event) {
  answer.version += 1;
  switch (event.type) {
    case "run.status":
      return finish(answer, event.status);
    case "message.delta":
      return write(answer, event.text);
    case "stage.opened":
      return openStep(answer, event);
    case "stage.delta":
      return continueStep(answer, event);
    case "stage.closed":
      return closeStep(answer, event);
    case "attachment.added":
      answer.attachments.push(event.attachment);
      return;
    case "run.error":
      answer.error = { text: event.text, reference: event.reference };
      return;
    case "message.complete":
      return complete(answer, event.message);
  }
}

/** @param {Answer} answer @param {RunStatus} status */
function finish(answer, status) {
  answer.status = status;
  answer.version += 1;
  if (isGoing(status)) return;
  for (const step of answer.steps.values()) {
    if (step.state === "running") step.state = "stopped";
  }
}

/** @param {Answer} answer @param {string} text */
function write(answer, text) {
  const part = answer.parts.at(-1);
  if (part?.kind === "text") part.text += text;
  else answer.parts.push({ kind: "text", text });
}

/** @param {Answer} answer @param {import("./frames.js").StageOpened} event */
function openStep(answer, event) {
  /** @type {Step} */
  const step = {
    id: event.stage,
    title: event.title,
    text: "",
    state: "running",
    seconds: null,
    attachments: [],
    children: [],
    unfolded: false,
  };
  answer.steps.set(step.id, step);
  const parent = event.parent === null ? undefined : answer.steps.get(event.parent);
  if (parent) {
    parent.children.push(step);
    return;
  }
  const part = answer.parts.at(-1);
  if (part?.kind === "steps") part.steps.push(step);
  else answer.parts.push({ kind: "steps", steps: [step] });
}

/** @param {Answer} answer @param {import("./frames.js").StageDelta} event */
function continueStep(answer, event) {
  const step = answer.steps.get(event.stage);
  if (!step) return;
  if (event.text) step.text += event.text;
  if (event.title) step.title += event.title;
  if (event.attachment) step.attachments.push(event.attachment);
}

/** @param {Answer} answer @param {import("./frames.js").StageClosed} event */
function closeStep(answer, event) {
  const step = answer.steps.get(event.stage);
  if (!step) return;
  step.state = event.failed ? "failed" : "done";
  step.seconds = event.seconds;
}

/**
 * The stored answer counts. Where its text is what the deltas built, the text keeps its place
 * among the steps.
 * @param {Answer} answer @param {StoredMessage} message
 */
function complete(answer, message) {
  answer.message = message;
  answer.attachments = message.attachments ?? [];
  if (textOf(answer) === message.text) return;
  answer.parts = answer.parts.filter((part) => part.kind === "steps");
  if (message.text) answer.parts.push({ kind: "text", text: message.text });
}
