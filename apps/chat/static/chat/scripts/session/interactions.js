/**
 * A run's requests to the user, and their results. It does not depend on the socket or the page.
 *
 * @import { Answer } from "./answers.js"
 * @import { InteractionAnswer, InteractionRequested, InteractionResolved, RunStatus } from "./frames.js"
 *
 * @typedef {object} Interaction
 * @property {string} key
 * @property {string} kind
 * @property {Record<string, any>} asked
 * @property {number | null} due in seconds since 1970
 * @property {{answer: InteractionAnswer, by: string, at: number} | null} resolved
 * @property {boolean} sending an answer is on its way
 * @property {boolean} [isHere] this page carries the call out
 */

/** @param {Answer} answer @param {InteractionRequested} event */
export function askPerson(answer, { key, kind, asked, due }) {
  const known = interactionsOf(answer).find((one) => one.key === key && one.kind === kind);
  if (known) Object.assign(known, { asked, due });
  else {
    const interaction = { key, kind, asked, due, resolved: null, sending: false };
    answer.parts.push({ kind: "interaction", interaction });
  }
}

/** @param {Answer} answer @param {InteractionResolved} event */
export function resolve(answer, { key, kind, answer: given, by, at }) {
  const known = interactionsOf(answer).find((one) => one.key === key && one.kind === kind);
  if (known) Object.assign(known, { resolved: { answer: given, by, at }, sending: false });
  // The run continues when a process takes it up; with results of calls, once all of them have arrived.
  const isMissing = kind === "client_tool" && interactionsOf(answer).some((one) => isOpenCall(one));
  if (answer.status === "waiting" && !isMissing) answer.status = "queued";
}

/** @param {Answer} answer @returns {Interaction[]} */
export function interactionsOf(answer) {
  return answer.parts.flatMap((part) => (part.kind === "interaction" ? [part.interaction] : []));
}

/**
 * The approvals that the step of their call shows, so that the same title is not listed twice.
 * @param {Answer} answer @returns {Map<string, Interaction>} by the ID of the step
 */
export function approvedSteps({ parts }) {
  /** @type {Map<string, Interaction>} */
  const found = new Map();
  for (const [index, part] of parts.entries()) {
    if (part.kind !== "interaction" || part.interaction.kind !== "approval") continue;
    const { asked, resolved } = part.interaction;
    // A lasting approval has a link to take it back.
    if (resolved?.answer.outcome !== "approved" || resolved.answer.always) continue;
    const next = parts.slice(index).find(({ kind }) => kind !== "interaction");
    const step = next?.kind === "steps" ? next.steps.find(({ id, title }) => title === asked.title && !found.has(id)) : undefined;
    if (step) found.set(step.id, part.interaction);
  }
  return found;
}

/**
 * @param {Answer | null} answer
 * @returns {Interaction | undefined} the question that accepts free text, if nothing else is open
 */
export function openQuestion(answer) {
  if (answer?.status !== "waiting") return undefined;
  const [card, ...others] = interactionsOf(answer).filter((one) => !one.resolved);
  const takesWords = card?.kind === "question" && !others.length && !card.sending;
  return takesWords && (card.asked.input === "text" || card.asked.freeform !== false) ? card : undefined;
}

/** @param {Answer | null} answer @returns {Interaction | undefined} the first that can be answered now */
export function openInteraction(answer) {
  if (!answer) return undefined;
  const { status } = answer;
  return interactionsOf(answer).find((one) => !one.asked.four_eyes && !isOpenCall(one) && isOpen(one, status));
}

/** @param {Interaction} interaction @returns {boolean} true if a page has to execute it */
export function isOpenCall({ kind, resolved }) {
  return kind === "client_tool" && !resolved;
}

/**
 * A call that asks continues in the meantime; all other requests belong to an answer that waits.
 * @param {Interaction} interaction @param {RunStatus} status
 */
export function isOpen({ kind, resolved }, status) {
  return !resolved && (status === "waiting" || (kind === "elicitation" && status === "running"));
}
