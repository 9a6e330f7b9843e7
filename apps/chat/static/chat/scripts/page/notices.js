/** Notices above the composer, about the connection, filled-in fields, uploads and memory. */

import { announcer, element, problem, tell } from "./parts.js";
import { session } from "./session.js";
import { gettext } from "../texts.js";

const NOTICES = {
  connecting: "",
  open: "",
  lost: gettext("Connection lost. Reconnecting…"),
  refused: gettext("The server closed the connection to this conversation. Reload the page to continue."),
};
const notice = element("notice", HTMLElement);
const readOnlyNotice = element("read-only-notice", HTMLElement);
const setNotice = element("set-notice", HTMLElement);
const memoryNotice = element("memory-notice", HTMLElement);
/** @type {{label: string, undo: () => void}[]} fields that the answer has filled in */
const undoing = [];
let wasLost = false;

element("undo-set", HTMLButtonElement).addEventListener("click", undoFields);

export function showConnection() {
  tell(notice, NOTICES[session.state]);
  tell(readOnlyNotice, session.readOnly);
  const isLost = session.state === "lost" || session.state === "refused";
  if (isLost !== wasLost) announcer.say(isLost ? NOTICES[session.state] : gettext("Reconnected."));
  wasLost = isLost;
}

/** Notices apply only to the previous conversation. */
export function clearNotices() {
  tell(problem, "");
  tell(setNotice, "");
  tell(memoryNotice, "");
  undoing.length = 0;
}

/** @param {string} label of a field that was filled in @param {() => void} undo */
export function offerUndo(label, undo) {
  undoing.push({ label, undo });
  const labels = new Set(undoing.map((one) => `“${one.label}”`));
  const words = gettext("The answer filled in {fields}.", { fields: [...labels].join(", ") });
  tell(setNotice, words);
  announcer.say(`${words} ${gettext("You can undo this.")}`);
}

function undoFields() {
  tell(setNotice, "");
  for (const { undo } of undoing.splice(0).reverse()) undo();
  announcer.say(gettext("Undone."));
}

/** @param {string} words */
export function tellProblem(words) {
  tell(problem, words);
  announcer.warn(words);
}

/** @param {{text: string, isProblem: boolean}} told */
export function tellUpload({ text, isProblem }) {
  if (isProblem) announcer.warn(text);
  else announcer.say(text);
}

/** @param {{text: string, isProblem: boolean}} told */
export function tellMemory({ text, isProblem }) {
  tell(problem, isProblem ? text : "");
  tell(memoryNotice, isProblem ? "" : text);
  if (isProblem) announcer.warn(text);
  else announcer.say(text);
}
