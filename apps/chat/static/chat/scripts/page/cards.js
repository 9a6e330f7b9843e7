/** The card of an answer waiting for the user: the page announces it and moves the focus to it. */

import { ChatInteraction } from "../cards/interaction.js";
import { openInteraction, openQuestion } from "../session/interactions.js";
import { composer, element, log } from "./parts.js";
import { session } from "./session.js";

/** @import { Interaction } from "../session/interactions.js" */

const cardNotice = element("card-notice", HTMLButtonElement);
/** @type {Interaction | undefined} the card that waits for the user */
let shownCard;
/** Shows the notice while the card is out of view: scrolled away, or behind the head or the message box. */
const sight = new IntersectionObserver(
  (seen) => (cardNotice.hidden = !isWaiting() || seen.some(({ isIntersecting }) => isIntersecting)),
  { rootMargin: "-56px 0px -144px" },
);

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
  if (card === shownCard) return false;
  const hadFocus = document.activeElement?.closest("chat-interaction");
  shownCard = card;
  cardNotice.hidden = true;
  sight.disconnect();
  void afterDrawing().then(watchCard);
  const goOn = () => (card ? focusCard() : composer.focus());
  if (hadFocus || (card && isIdle())) void afterDrawing().then(goOn);
  return true;
}

export function focusCard() {
  cardElement()?.focus();
}

function watchCard() {
  const card = shownCard && cardElement();
  if (card) sight.observe(card);
}

/** @returns {ChatInteraction | undefined} */
function cardElement() {
  const cards = [...document.querySelectorAll("chat-interaction")].filter((card) => card instanceof ChatInteraction);
  return cards.find(({ interaction }) => interaction === shownCard);
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
