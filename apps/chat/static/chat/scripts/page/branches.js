/** The buttons below a turn that switch, copy or delete branches. The focus follows the turn. */

import { ActionRow } from "../answer/actions.js";
import { afterDrawing } from "./cards.js";
import { secondsText } from "../durations.js";
import { attachmentCards } from "../files/attachments.js";
import { textOf } from "../session/answers.js";
import { tellProblem } from "./notices.js";
import { announcer, composer, detailOf, history, log, problem, tell } from "./parts.js";
import { base, session } from "./session.js";
import { go } from "./switching.js";
import { noteFeedback } from "../answer/feedback.js";
import { postForm } from "../requests.js";
import { offeredModels } from "../session/offered-models.js";
import { gettext } from "../texts.js";

/** @type {{at: number, name: string} | null} the turn whose branch was changed here, and the button */
let changed = null;

export function offerBranches() {
  log.addEventListener("branch-change", (event) => changeBranches(event));
  log.addEventListener("compare", (event) => void compare(detailOf(event)));
  log.addEventListener("fork", (event) => void fork(detailOf(event)));
  session.addEventListener("reopened", () => void afterDrawing().then(focusChanged));
}

/** The change was rejected. */
export function forgetChange() {
  changed = null;
}

/** @param {Event} event of a button below a turn: another branch, or the end of the turn */
function changeBranches(event) {
  const { type, message, name } = detailOf(event);
  const turn = event.target instanceof Element ? event.target.closest(".turn") : null;
  const at = [...log.querySelectorAll(".turn")].indexOf(turn ?? log);
  changed = { at, name };
  tell(problem, "");
  session.changeBranches(type, message);
}

/** Show the answers to a question side by side. @param {string} id of the question */
async function compare(id) {
  const { compare: open } = await import("../answer/comparison.js");
  const page = { session, base: base(), models: offeredModels.all, announcer, note: noteFeedback, leave: () => composer.focus() };
  await open({ ...page, id, textOf, cards: attachmentCards, secondsText });
}

/** Opens a new conversation with the messages up to an answer. @param {string} message its id */
async function fork(message) {
  tell(problem, "");
  const { status, told } = await postForm(`${base()}${session.conversation.id}/fork/`, { message });
  if (status !== 201) {
    tellProblem(told?.error?.message ?? gettext("The new chat could not be created. Check your connection and try again."));
    return;
  }
  const { conversation } = told;
  if (!session.temporary) history.rows.put(conversation);
  await go(new URL(conversation.address, location.href).href);
}

/** The pressed button may be below another message now. */
function focusChanged() {
  if (!changed) return;
  const { at, name } = changed;
  changed = null;
  const row = log.querySelectorAll(".turn")[at]?.querySelector("action-row");
  if (name !== "delete" && row instanceof ActionRow) row.focusOn(name);
  else composer.focus();
  announcer.say(name === "delete" ? gettext("Question and answer deleted.") : gettext("Showing a different branch."));
}
