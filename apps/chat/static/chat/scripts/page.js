/** The chat page: one session, and the elements that show it. */

import { Announcer } from "./announcer.js";
import { ChatComposer } from "./composer.js";
import { Connection } from "./connection.js";
import { Follower } from "./follower.js";
import { ChatHistory } from "./history.js";
import { ChatLog } from "./log.js";
import { Session } from "./session.js";

/**
 * @import { Starter, Starters } from "./log.js"
 * @import { Entry } from "./history.js"
 */

const NOTICES = {
  connecting: "",
  open: "",
  lost: "Connection lost, trying again…",
  refused: "The server closed this conversation’s connection. Reload the page to go on.",
};

const page = element("main", HTMLElement).dataset;
/** @type {Starters} */
const starters = read("starters-data");
/** @type {Entry[]} */
const conversations = read("conversations-data");
const title = page.title ?? "";
const base = page.address ?? "";
const connection = new Connection(page.socket ?? "");
const session = new Session(connection, page.conversation || null);
const log = element("log", ChatLog);
const composer = element("composer", ChatComposer);
const history = element("history", ChatHistory);
const notice = element("notice", HTMLElement);
const problem = element("problem", HTMLElement);
const jump = element("jump", HTMLButtonElement);
const announcer = new Announcer(element("said", HTMLElement), element("warned", HTMLElement));
const follower = new Follower(log, (away) => (jump.hidden = !away));
let drawing = false;
let wasLost = false;

log.heading = title;
log.description = page.description ?? "";
log.starters = starters;
composer.limit = Number(page.textLimit) || Infinity;
composer.draftKey = draftKey();
history.base = base;
history.entries = conversations;
history.current = session.conversation.id;

session.addEventListener("change", scheduleDraw);
session.addEventListener("opened", (event) => opened(detailOf(event)));
session.addEventListener("event", (event) => announcer.tell(detailOf(event)));
session.addEventListener("refused", (event) => refused(detailOf(event)));
composer.addEventListener("ask", (event) => ask(detailOf(event)));
composer.addEventListener("stop", () => session.stop());
log.addEventListener("starter", (event) => start(detailOf(event)));
log.addEventListener("retry", (event) => ask(detailOf(event)));
history.addEventListener("renamed", (event) => renamed(detailOf(event)));
history.addEventListener("deleted", (event) => deleted(detailOf(event)));
jump.addEventListener("click", () => {
  follower.follow();
  composer.focus();
});
addEventListener("keydown", stopByKey);

connection.connect();
draw();
// On a touch screen the focus would open the keyboard over the page.
if (matchMedia("(pointer: fine)").matches) void composer.updateComplete.then(() => composer.focus());

/** Many frames, one drawing. */
function scheduleDraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
}

function draw() {
  log.turns = [...session.conversation.turns];
  log.loaded = session.loaded;
  log.busy = session.busy;
  log.setAttribute("aria-busy", String(session.busy));
  composer.busy = session.busy;
  composer.ready = session.loaded;
  composer.disabled = whyDisabled();
  tell(notice, NOTICES[session.state]);
  announceConnection();
}

/** @param {HTMLElement} place @param {string} text "" hides the place */
function tell(place, text) {
  place.hidden = !text;
  const words = place.querySelector("span");
  if (words && words.textContent !== text) words.textContent = text;
}

function whyDisabled() {
  if (session.state === "refused") return "Reload the page to go on";
  return starters.chat_message_input_disabled ? "Choose one of the actions above" : "";
}

function announceConnection() {
  const isLost = session.state === "lost" || session.state === "refused";
  if (isLost !== wasLost) announcer.say(isLost ? NOTICES[session.state] : "Connected again.");
  wasLost = isLost;
}

/** @param {string} text */
function ask(text) {
  tell(problem, "");
  session.ask(text);
  follower.follow();
}

/** @param {Starter} starter */
function start({ text }) {
  if (starters.auto_submit === false && !starters.chat_message_input_disabled) {
    composer.fill(text);
    return;
  }
  ask(text);
  composer.focus();
}

/** @param {{isNew: boolean}} opened */
function opened({ isNew }) {
  const { id, title: name } = session.conversation;
  if (isNew && id) {
    window.history.replaceState(null, "", `${base}${id}/`);
    composer.moveDraft(draftKey());
    history.current = id;
    history.note(id, name);
    comeBackTo(location.pathname);
  }
  entitle(name);
}

/** Signing in leads back to where one is now. @param {string} path */
function comeBackTo(path) {
  for (const link of document.querySelectorAll(".account a[href*='?next=']")) {
    link.setAttribute("href", `${link.getAttribute("href")?.split("?")[0]}?next=${path}`);
  }
}

/** @param {string} name of the conversation */
function entitle(name) {
  document.title = [name, title].filter(Boolean).join(" · ");
  element("conversation-title", HTMLElement).textContent = name;
}

/** @param {{text: string, question: string}} refusal */
function refused({ text, question }) {
  tell(problem, text);
  announcer.warn(text);
  if (question) composer.giveBack(question);
}

/** @param {Entry} entry */
function renamed({ id, title: name }) {
  announcer.say("Conversation renamed.");
  if (id !== session.conversation.id) return;
  session.conversation.title = name;
  entitle(name);
}

/** @param {string} id */
function deleted(id) {
  announcer.say("Conversation deleted.");
  if (id === session.conversation.id) location.assign(base);
  // What had the focus is gone.
  else element("new-chat", HTMLAnchorElement).focus();
}

/** @param {KeyboardEvent} event */
function stopByKey(event) {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  session.stop();
}

function draftKey() {
  return `draft ${base}${session.conversation.id ?? ""}`;
}

/** @param {string} id of a script element with JSON */
function read(id) {
  return JSON.parse(element(id, HTMLScriptElement).text);
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return found;
}

/** @param {globalThis.Event} event @returns {any} */
function detailOf(event) {
  return /** @type {CustomEvent} */ (event).detail;
}
