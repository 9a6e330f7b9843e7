/** The card of an answer waiting for the user: the page announces it and moves the focus to it. */

import { ChatInteraction } from "../cards/interaction.js";
import { openInteraction, openQuestion } from "../session/interactions.js";
import { composer, element, log } from "./parts.js";
import { session } from "./session.js";

/** @import { Interaction } from "../session/interactions.js" */

const cardNotice = element("card-notice", HTMLButtonElement);
/** @type {Interaction | undefined} the card that waits for the user */
let shownCard;

cardNotice.addEventListener("click", focusCard);

/** True if the answer is waiting for the user. */
export function isWaiting() {
  return shownCard !== undefined;
}

/** A new card gets the focus, unless the user is busy elsewhere on the page. @returns {boolean} true if a new card is shown */
export function showWaiting() {
  const card = session.loaded ? openInteraction(session.conversation.running) : undefined;
  composer.waiting = card !== undefined;
  composer.answering = session.loaded && openQuestion(session.conversation.running) !== undefined;
  cardNotice.hidden = card === undefined;
  if (card === shownCard) return false;
  const hadFocus = document.activeElement?.closest("chat-interaction");
  shownCard = card;
  const goOn = () => (card ? focusCard() : composer.focus());
  if (hadFocus || (card && isIdle())) void afterDrawing().then(goOn);
  return true;
}

export function focusCard() {
  for (const card of document.querySelectorAll("chat-interaction")) {
    if (card instanceof ChatInteraction && card.interaction === shownCard) card.focus();
  }
}

/** True if nothing is being typed. */
function isIdle() {
  const at = document.activeElement;
  return at === document.body || at === null || (at.id === "question" && !composer.text);
}

/** The elements of the conversation draw nested elements. */
export async function afterDrawing() {
  await log.updateComplete;
  await new Promise((drawn) => requestAnimationFrame(drawn));
}
