/** Turns as displayed: an answer and its continuations as one, in groups of neighbors. */

/**
 * @import { Answer } from "../session/answers.js"
 * @import { Question } from "../session/conversation.js"
 *
 * @typedef {object} ShownTurn
 * @property {Question | Answer} turn
 * @property {Question} [asked] the question that an answer answers
 * @property {Answer[]} earlier the answers that it continues
 * @property {boolean} goesOn true if another answer continues it
 * @property {boolean} isLast
 *
 * @typedef {{before?: string, after?: string}} Missing the run next to turns that are not loaded
 * @typedef {{key: string, turns: ShownTurn[], missing?: Missing}} TurnGroup
 */

/** Turns per group; two or three fill a screen. */
const GROUP = 8;

/** @param {(Question | Answer)[]} turns @returns {ShownTurn[]} without the questions that continue an answer */
export function shownTurns(turns) {
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

/**
 * Turns in groups, which do not depend on what else is loaded, with gaps for missing turns.
 * @param {ShownTurn[]} turns
 */
export function groupsOf(turns) {
  /** @type {TurnGroup[]} */
  const groups = [];
  let gaps = 0;
  let group = -1;
  /** @type {Question | Answer | undefined} */
  let last;
  for (const shown of turns) {
    const { turn } = shown;
    if (turn.at > (last?.at ?? -1) + 1) {
      groups.push({ key: `gap ${gaps}`, turns: [], missing: last ? { after: runOf(last) } : { before: runOf(turn) } });
      gaps += 1;
      group = -1;
    }
    const own = Math.floor(turn.at / GROUP);
    if (own === group) groups.at(-1)?.turns.push(shown);
    else groups.push({ key: keyOf(own, last), turns: [shown] });
    group = own;
    last = turn;
  }
  return groups;
}

/** @param {number} group @param {Question | Answer | undefined} last the turn before it */
function keyOf(group, last) {
  // A gap divides a group into two.
  return last && Math.floor(last.at / GROUP) === group ? `turns ${group} end` : `turns ${group}`;
}

/** @param {Question | Answer} turn */
function runOf(turn) {
  return turn.role === "user" ? (turn.run ?? "") : turn.id;
}

/** @param {Question | Answer} turn @returns {string | undefined} the id of its stored message */
export function messageOf(turn) {
  return turn.role === "user" ? turn.id : turn.message?.id;
}
