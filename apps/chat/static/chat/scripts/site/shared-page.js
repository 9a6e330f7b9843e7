/** The page of a shared conversation, with the elements of the chat page. */

import { Conversation } from "../session/conversation.js";
import { drawForPaper, offerPaper } from "../code/paper.js";
import { ChatLog } from "../log/log.js";
import { postForm } from "../requests.js";
import { gettext } from "../texts.js";

const LOST = gettext("The conversation could not be copied. Check your connection and try again.");
const log = document.querySelector("chat-log");
const turns = document.getElementById("shared-turns");
const button = document.getElementById("continue");

if (log instanceof ChatLog && turns) {
  const conversation = new Conversation("shared");
  conversation.insert(JSON.parse(turns.textContent ?? "[]"));
  log.ended = true; // Questions are not possible here.
  log.turns = conversation.turns;
  offerPaper(() => void printAll(log));
}

if (button instanceof HTMLButtonElement) button.addEventListener("click", () => void goOn(button));

/** @param {ChatLog} log */
async function printAll(log) {
  await log.drawAll();
  await drawForPaper();
  print();
}

/**
 * A form would be rejected: a page without a referrer sends no origin with its forms either.
 * @param {HTMLButtonElement} pressed
 */
async function goOn(pressed) {
  if (pressed.ariaDisabled === "true") return;
  pressed.ariaDisabled = "true";
  tell("");
  const { status, told } = await postForm(pressed.dataset.address ?? "", {});
  if (status === 201) return location.assign(told.address);
  pressed.ariaDisabled = null;
  tell(told?.error?.message ?? LOST);
}

/** @param {string} text */
function tell(text) {
  const problem = document.getElementById("problem");
  const words = problem?.querySelector("span");
  if (!problem || !words) return;
  problem.hidden = !text;
  words.textContent = text;
}
