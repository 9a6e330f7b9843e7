/** The parts of the chat page that its scripts share: document elements, and announcements. */

import { Announcer } from "../notices/announcer.js";
import { ChatComposer } from "../composer/composer.js";
import { ChatFiles } from "../files/files.js";
import { Follower } from "../log/follower.js";
import { ChatGauge } from "../log/gauge.js";
import { ChatHistory } from "../rail/history.js";
import { JumpButton } from "../log/jump-button.js";
import { ChatLog } from "../log/log.js";
import { ChatStarters } from "../log/starters.js";
import { ChatQueue } from "../composer/queue.js";
import { ChatToast } from "../notices/toast.js";
import { ChatTodo } from "./todo.js";

/** The server's data about the application and the conversation. */
export const page = element("main", HTMLElement).dataset;
export const log = element("log", ChatLog);
export const composer = element("composer", ChatComposer);
export const history = element("history", ChatHistory);
export const files = element("files", ChatFiles);
export const gauge = element("gauge", ChatGauge);
export const queue = element("queue", ChatQueue);
export const todo = element("todo", ChatTodo);
export const starters = element("starters", ChatStarters);
export const toast = element("toast", ChatToast);
export const problem = element("problem", HTMLElement);
export const jump = new JumpButton(element("jump", HTMLButtonElement));
export const announcer = new Announcer(element("said", HTMLElement), element("warned", HTMLElement), element("spoken", HTMLElement));
export const follower = new Follower(element("conversation", HTMLElement), (away) => jump.show(away));

/** @param {HTMLElement} place @param {string} text "" hides the place */
export function tell(place, text) {
  place.hidden = !text;
  const words = place.querySelector("span");
  if (words && words.textContent !== text) words.textContent = text;
}

/** @param {string} id of a script element with JSON */
export function read(id) {
  return JSON.parse(element(id, HTMLScriptElement).text);
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return found;
}

/** @param {globalThis.Event} event @returns {any} */
export function detailOf(event) {
  return /** @type {CustomEvent} */ (event).detail;
}
