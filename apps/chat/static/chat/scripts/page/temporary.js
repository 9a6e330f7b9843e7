/** Temporary conversations: the switch for a new one, and the retention of the open one. */

import { announcer, element, tell } from "./parts.js";
import { tellProblem } from "./notices.js";
import { base, session } from "./session.js";
import { post } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @typedef {object} Keeping
 * @property {string} text the retention of the conversation and its source, or ""
 * @property {string} temporary the text for a temporary conversation
 * @property {boolean} is_temporary true if the open one is
 */

const switching = element("temporary-switch", HTMLButtonElement);
const notice = element("keeping-notice", HTMLElement);
const keepButton = element("keep-conversation", HTMLButtonElement);
/** @type {Keeping} */
let known = { text: "", temporary: "", is_temporary: false };

/** The retention of the open or new conversation. @param {Keeping} keeping @param {boolean} canBegin */
export function showKeeping(keeping, canBegin) {
  known = keeping;
  session.temporary = keeping.is_temporary;
  switching.hidden = !canBegin;
  draw();
}

/** Once the conversation has begun, only saving it can change this. */
export function fixKeeping() {
  switching.hidden = true;
  draw();
}

/** Start a temporary conversation instead, or stop. */
export function switchTemporary() {
  session.temporary = !session.temporary;
  draw();
  announcer.say(session.temporary ? known.temporary : gettext("This conversation will be saved."));
}

export function offerKeeping() {
  switching.addEventListener("click", switchTemporary);
  keepButton.addEventListener("click", async () => {
    if (!(await post(`${base()}${session.conversation.id}/keep/`, {}))) {
      tellProblem(gettext("That didn’t work. Check your connection and try again."));
      return;
    }
    session.temporary = false;
    draw();
    element("share", HTMLButtonElement).hidden = false;
    element("main", HTMLElement).focus({ preventScroll: true }); // The button is gone.
    announcer.say(gettext("This conversation is saved to your history."));
  });
}

function draw() {
  switching.ariaChecked = String(session.temporary);
  tell(notice, session.temporary ? known.temporary : known.text);
  notice.toggleAttribute("data-temporary", session.temporary);
  keepButton.hidden = !session.temporary || !session.conversation.id;
}
