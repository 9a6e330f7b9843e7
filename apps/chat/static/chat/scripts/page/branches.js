/** The buttons below a turn that show another branch or delete it: the focus goes to where the turn is then. */

import { ActionRow } from "../answer/actions.js";
import { afterDrawing } from "./cards.js";
import { announcer, composer, detailOf, log, problem, tell } from "./parts.js";
import { session } from "./session.js";
import { gettext } from "../texts.js";

/** @type {{at: number, name: string} | null} the turn whose branch was changed here, and the button */
let changed = null;

export function offerBranches() {
  log.addEventListener("branch-change", (event) => changeBranches(event));
  session.addEventListener("reopened", () => void afterDrawing().then(focusChanged));
}

/** The change was refused. */
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

/** The button that was pressed may stand below another message now. */
function focusChanged() {
  if (!changed) return;
  const { at, name } = changed;
  changed = null;
  const row = log.querySelectorAll(".turn")[at]?.querySelector("action-row");
  if (name !== "delete" && row instanceof ActionRow) row.focusOn(name);
  else composer.focus();
  announcer.say(name === "delete" ? gettext("Question and answer deleted.") : gettext("Showing another branch."));
}
