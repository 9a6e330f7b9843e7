import { askPerson, resolve } from "./interactions.js";

/**
 * Applies the events of a run to its answer.
 *
 * @import { Interaction } from "./interactions.js"
 * @import { Annotation } from "../markdown/citations.js"
 * @import { AnswerRestarted, Attachment, Event, SubagentBegan, RunStatus, StageClosed, StageDelta, StageOpened, StoredMessage } from "./frames.js"
 *
 * @typedef {object} Step
 * @property {string} id
 * @property {string} title
 * @property {string} text Markdown
 * @property {number} length of the text where only its beginning is here, else 0
 * @property {"running" | "done" | "failed" | "stopped"} state
 * @property {number | null} seconds
 * @property {Attachment[]} attachments
 * @property {Step[]} children
 * @property {boolean} unfolded
 * @property {Subagent} [subagent] the sub-agent that works in the step
 *
 * @typedef {{key: string, name: string, agent: string, state: "running" | "done" | "failed" | "stopped"}} Subagent
 *
 * @typedef {{kind: "notice", id: string, text: string}} Notice
 *
 * @typedef {{kind: "text", text: string} | {kind: "steps", steps: Step[]}
 *   | {kind: "interaction", interaction: Interaction} | Notice} Part
 *
 * @typedef {object} Answer
 * @property {"assistant"} role
 * @property {string} id of its run
 * @property {number} at the place of its turn in the conversation
 * @property {RunStatus} status
 * @property {Part[]} parts in the order they came
 * @property {Map<string, Step>} steps
 * @property {Attachment[]} attachments
 * @property {Annotation[]} annotations of the anchors in its text
 * @property {{text: string, reference: string} | null} error
 * @property {StoredMessage | null} message
 * @property {Set<string>} expired the ids of its steps that the model reads no more
 * @property {boolean} continued by another process, because the one before it was gone
 * @property {number} version grows with every change
 */

/** @param {RunStatus} status */
export function isGoing(status) {
  return status === "queued" || status === "running" || status === "waiting";
}

/** @param {Answer} answer @returns {string} all of its Markdown */
export function textOf(answer) {
  return answer.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** @param {Answer} answer @param {Event} event */
export function change(answer, event) {
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
    case "annotation.added":
      answer.annotations.push(event.annotation);
      return;
    case "notice.added":
      return notice(answer, event.notice, event.text);
    case "helper.began":
      return beginSubagent(answer, event);
    case "helper.ended":
      for (const { subagent } of answer.steps.values()) {
        if (subagent?.key === event.key) subagent.state = event.status;
      }
      return;
    case "run.continued":
      answer.continued = true;
      return;
    case "answer.restarted":
      return restart(answer, event);
    case "interaction.requested":
      return askPerson(answer, event);
    case "interaction.resolved":
      return resolve(answer, event);
    case "run.error":
      answer.error = { text: event.text, reference: event.reference };
      return;
    case "message.complete":
      return complete(answer, event.message);
  }
}

/** @param {Answer} answer @param {RunStatus} status */
export function finish(answer, status) {
  answer.status = status;
  answer.version += 1;
  if (isGoing(status)) return;
  for (const step of answer.steps.values()) {
    if (step.state === "running") step.state = "stopped";
    if (step.subagent?.state === "running") step.subagent.state = "stopped";
  }
}

/** @param {Answer} answer @param {string} text */
function write(answer, text) {
  const part = answer.parts.at(-1);
  if (part?.kind === "text") part.text += text;
  else answer.parts.push({ kind: "text", text });
}

/**
 * Everything after the last stored step is repeated.
 * @param {Answer} answer @param {AnswerRestarted} event
 */
function restart(answer, { text, attachments, annotations }) {
  answer.attachments = attachments;
  answer.annotations = annotations;
  let left = text.length;
  if (!textOf(answer).startsWith(text)) replaceText(answer, text);
  else {
    for (const part of answer.parts) {
      if (part.kind !== "text") continue;
      part.text = part.text.slice(0, left);
      left -= part.text.length;
    }
    answer.parts = answer.parts.filter((part) => part.kind !== "text" || part.text);
  }
}

/** @param {Answer} answer @param {string} id @param {string} text */
function notice(answer, id, text) {
  const known = answer.parts.find((part) => part.kind === "notice" && part.id === id);
  if (known?.kind === "notice") known.text = text;
  else answer.parts.push({ kind: "notice", id, text });
}

/** @param {Answer} answer @param {string} text */
function replaceText(answer, text) {
  answer.parts = answer.parts.filter((part) => part.kind !== "text");
  if (text) answer.parts.push({ kind: "text", text });
}

/** @param {Answer} answer @param {StageOpened} event */
function openStep(answer, event) {
  const known = answer.steps.get(event.stage);
  if (known) {
    // It is created again, because its process has ended.
    Object.assign(known, { title: event.title, text: "", length: 0, state: "running", attachments: [] });
    return;
  }
  /** @type {Step} */
  const step = {
    id: event.stage,
    title: event.title,
    text: "",
    length: 0,
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

/** @param {Answer} answer @param {SubagentBegan} event */
function beginSubagent(answer, { stage, key, name, agent }) {
  const step = answer.steps.get(stage);
  if (step) step.subagent = { key, name, agent, state: "running" };
}

/** @param {Answer} answer @param {StageDelta} event */
function continueStep(answer, event) {
  const step = answer.steps.get(event.stage);
  if (!step) return;
  if (event.text) step.text += event.text;
  if (event.length) step.length = event.length;
  if (event.title) step.title += event.title;
  if (event.attachment) step.attachments.push(event.attachment);
}

/** @param {Answer} answer @param {StageClosed} event */
function closeStep(answer, event) {
  const step = answer.steps.get(event.stage);
  if (!step) return;
  step.state = event.failed ? "failed" : "done";
  step.seconds = event.seconds;
}

/**
 * The stored answer is authoritative. If its text is the same as that of the deltas, the text keeps its position among the steps.
 * @param {Answer} answer @param {StoredMessage} message
 */
function complete(answer, message) {
  answer.message = message;
  answer.attachments = message.attachments ?? [];
  if (message.text === undefined || textOf(answer) === message.text) return;
  replaceText(answer, message.text);
}
