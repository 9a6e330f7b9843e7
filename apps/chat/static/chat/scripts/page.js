/** The chat page: one session, and the elements that show it. */

import { Announcer } from "./announcer.js";
import { CallingConversations, dotIcon } from "./attention.js";
import { ChatComposer } from "./composer.js";
import { Connection } from "./connection.js";
import { ClientCalls } from "./client-calls.js";
import { Drafts } from "./drafts.js";
import { acceptDrops } from "./dropping.js";
import { ChatFiles } from "./files.js";
import { sumText } from "./figures.js";
import { Follower } from "./follower.js";
import { ChatGauge, offerGauge } from "./gauge.js";
import { ChatHistory } from "./history.js";
import { ChatLog } from "./log.js";
import { ChatInteraction } from "./interaction.js";
import { openInteraction, openQuestion } from "./interactions.js";
import { offerMemorySwitch } from "./memory.js";
import { offerFields } from "./page-fields.js";
import { PageTools } from "./page-tools.js";
import { ChatQueue } from "./queue.js";
import { Session, uuid } from "./session.js";
import { ChatTodo } from "./todo.js";
import { Uploads } from "./uploads.js";

/**
 * @import { Starter, Starters } from "./log.js"
 * @import { Entry } from "./history.js"
 * @import { Attachment } from "./frames.js"
 * @import { Interaction } from "./interactions.js"
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
const session = new Session(connection, page.conversation || null, beginning());
session.place = page.place ?? "";
session.narrative = page.narrative ?? "";
const limits = {
  size: Number(page.uploadLimit) || Infinity,
  types: (page.uploadTypes ?? "").split(",").filter(Boolean),
  most: Number(page.uploadMost) || Infinity,
};
const uploads = new Uploads(`${base}files/`, limits, () => session.conversation.id ?? session.begin);
const log = element("log", ChatLog);
const composer = element("composer", ChatComposer);
const history = element("history", ChatHistory);
const files = element("files", ChatFiles);
const queue = element("queue", ChatQueue);
const todo = element("todo", ChatTodo);
const notice = element("notice", HTMLElement);
const sum = element("conversation-sum", HTMLElement);
const problem = element("problem", HTMLElement);
const jump = element("jump", HTMLButtonElement);
const announcer = new Announcer(element("said", HTMLElement), element("warned", HTMLElement));
const follower = new Follower(element("conversation", HTMLElement), (away) => (jump.hidden = !away));
const setNotice = element("set-notice", HTMLElement);
const memoryNotice = element("memory-notice", HTMLElement);
const tools = new PageTools();
const calling = new CallingConversations();
/** @type {{label: string, undo: () => void}[]} fields that the answer has filled in */
const undoing = [];
const cardNotice = element("card-notice", HTMLButtonElement);
let drawing = false;
let wasLost = false;
/** @type {Interaction | undefined} the card that waits for the person */
let shownCard;

log.heading = title;
log.description = page.description ?? "";
log.letters = page.letters ?? "";
log.tile = page.tile ?? "";
log.emoji = page.emoji ?? "";
log.icon = page.icon ?? "";
log.starters = starters;
log.ended = Boolean(page.ended);
composer.limit = Number(page.textLimit) || Infinity;
composer.drafts = new Drafts(page.account ?? "");
composer.draftKey = draftKey();
composer.ended = page.ended ?? "";
composer.uploads = uploads;
history.base = base;
history.entries = conversations;
history.current = session.conversation.id;
files.base = base;
files.conversation = session.conversation.id;
offerDownload();
const memorySwitch = document.getElementById("memory-switch");
if (memorySwitch instanceof HTMLButtonElement) offerMemorySwitch(memorySwitch, session, base, tellMemory);
offerGauge(element("gauge", ChatGauge), log, session, base);
session.watching = !page.ended;
listed(conversations);

session.addEventListener("change", scheduleDraw);
session.addEventListener("opened", (event) => opened(detailOf(event)));
session.addEventListener("event", (event) => announcer.tell(detailOf(event)));
session.addEventListener("listed", (event) => listed(detailOf(event)));
session.addEventListener("calling", (event) => {
  calling.take(detailOf(event));
  entitle(session.conversation.title);
});
session.addEventListener("queued", () => announcer.say("Message queued. It is sent after this answer."));
session.addEventListener("moved", () => location.assign("/"));
session.addEventListener("refused", (event) => refused(detailOf(event)));
composer.addEventListener("ask", (event) => send(detailOf(event)));
queue.addEventListener("order", (event) => order(detailOf(event)));
queue.addEventListener("left", (event) => {
  announcer.say(detailOf(event) === "queue.remove" ? "Message removed." : "Message sent.");
  composer.focus();
});
composer.addEventListener("stop", () => session.stop());
files.addEventListener("deleted", (event) => announcer.say(`${detailOf(event).name} deleted.`));
acceptDrops(element("drop", HTMLElement), (dropped) => takeDropped(dropped), () => !composer.disabled);
uploads.addEventListener("told", (event) => tellUpload(detailOf(event)));
log.addEventListener("starter", (event) => start(detailOf(event)));
log.addEventListener("retry", (event) => ask(detailOf(event)));
log.addEventListener("answer", (event) => {
  tell(problem, "");
  focusCard(); // its button is about to be disabled
  session.answer(detailOf(event));
});
log.addEventListener("helper-stop", (event) => session.stopHelper(detailOf(event)));
cardNotice.addEventListener("click", focusCard);
offerFields(tools, describePage, offerUndo);
tools.publish();
new ClientCalls(tools, session);
element("undo-set", HTMLButtonElement).addEventListener("click", undoFields);
history.addEventListener("renamed", (event) => renamed(detailOf(event)));
history.addEventListener("deleted", (event) => deleted(detailOf(event)));
jump.addEventListener("click", () => {
  follower.follow();
  composer.focus();
});
addEventListener("keydown", stopByKey);
document.addEventListener("visibilitychange", () => session.tellVisibility());

connection.connect();
draw();
if (page.draft) void composer.updateComplete.then(() => beginWith(page.draft ?? ""));
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
  composer.connected = session.state === "open";
  queue.messages = session.queue;
  queue.sending = session.sendingToQueue;
  queue.busy = session.busy;
  todo.text = session.conversation.todo;
  composer.disabled = whyDisabled();
  tell(notice, NOTICES[session.state]);
  if (!session.busy) tell(sum, sumText(session.conversation.turns));
  announceConnection();
  showWaiting();
}

/** A card that appears gets the focus, unless the person is busy elsewhere on the page. */
function showWaiting() {
  const card = session.loaded ? openInteraction(session.conversation.running) : undefined;
  composer.waiting = card !== undefined;
  composer.answering = session.loaded && openQuestion(session.conversation.running) !== undefined;
  cardNotice.hidden = card === undefined;
  if (card !== shownCard) {
    const hadFocus = document.activeElement?.closest("chat-interaction");
    shownCard = card;
    entitle(session.conversation.title);
    const goOn = () => (card ? focusCard() : composer.focus());
    if (hadFocus || (card && isIdle())) void afterDrawing().then(goOn);
  }
}

/** Whether nothing is being typed. */
function isIdle() {
  const at = document.activeElement;
  return at === document.body || at === null || (at.id === "question" && !composer.text);
}

/** The elements of the conversation draw one inside of another. */
async function afterDrawing() {
  await log.updateComplete;
  await new Promise((drawn) => requestAnimationFrame(drawn));
}

function focusCard() {
  for (const card of document.querySelectorAll("chat-interaction")) {
    if (card instanceof ChatInteraction && card.interaction === shownCard) card.focus();
  }
}

/** @param {HTMLElement} place @param {string} text "" hides the place */
function tell(place, text) {
  place.hidden = !text;
  const words = place.querySelector("span");
  if (words && words.textContent !== text) words.textContent = text;
}

/** What a tool may know of the page, beside its fields. */
function describePage() {
  const { id, title: name } = session.conversation;
  return { application: title, address: location.pathname, conversation: { id, title: name } };
}

/** @param {string} label of a field that was filled in @param {() => void} undo */
function offerUndo(label, undo) {
  undoing.push({ label, undo });
  const labels = new Set(undoing.map((one) => `“${one.label}”`));
  const words = `The answer filled in ${[...labels].join(", ")}.`;
  tell(setNotice, words);
  announcer.say(`${words} It can be undone.`);
}

function undoFields() {
  tell(setNotice, "");
  for (const { undo } of undoing.splice(0).reverse()) undo();
  announcer.say("Undone.");
}

function whyDisabled() {
  if (page.ended) return page.ended;
  if (session.state === "refused") return "Reload the page to go on";
  return starters.chat_message_input_disabled ? "Choose one of the actions above" : "";
}

function announceConnection() {
  const isLost = session.state === "lost" || session.state === "refused";
  if (isLost !== wasLost) announcer.say(isLost ? NOTICES[session.state] : "Connected again.");
  wasLost = isLost;
}

/** @param {{text: string, attachments: Attachment[], isAnswer: boolean}} written */
function send({ text, attachments, isAnswer }) {
  if (!isAnswer) return ask({ text, attachments });
  tell(problem, "");
  session.answerWords(text);
}

/** @param {{type: "queue.change" | "queue.remove" | "queue.send", id: string, changes?: object}} given */
function order({ type, id, changes }) {
  tell(problem, "");
  session.queueOrder(type, id, changes);
}

/** The list as the server has it now. @param {Entry[]} entries */
function listed(entries) {
  history.entries = entries;
  entitle(session.conversation.title);
}

/** @param {{text: string, attachments?: Attachment[], replaces?: string}} question */
function ask({ text, attachments, replaces }) {
  tell(problem, "");
  tell(setNotice, "");
  tell(memoryNotice, "");
  undoing.length = 0;
  session.ask(text, attachments, replaces);
  draw(); // the question is seen in this very frame
  follower.follow();
}

/** @param {Starter} starter */
function start({ text }) {
  if (starters.auto_submit === false && !starters.chat_message_input_disabled) {
    composer.fill(text);
    return;
  }
  ask({ text });
  composer.focus();
}

/** @param {{isNew: boolean}} opened */
function opened({ isNew }) {
  const { id, title: name } = session.conversation;
  if (isNew && id) {
    window.history.replaceState(null, "", `${base}${id}/${location.search}`);
    sessionStorage.removeItem(beginKey());
    composer.moveDraft(draftKey());
    history.current = id;
    files.conversation = id;
    offerDownload();
    history.note(id, name);
    comeBackTo(location.pathname);
  }
  entitle(name);
}

function offerDownload() {
  const { id } = session.conversation;
  const link = element("download", HTMLAnchorElement);
  link.hidden = !id;
  if (id) link.href = `${base}${id}/download/`;
}

/** Signing in leads back to where one is now. @param {string} path */
function comeBackTo(path) {
  for (const link of document.querySelectorAll(".account a[href*='?next=']")) {
    link.setAttribute("href", `${link.getAttribute("href")?.split("?")[0]}?next=${path}`);
  }
}

/** With how many others wait for the person or have something new. @param {string} name of the conversation */
function entitle(name) {
  const others = calling.count(session.conversation.id, history.entries);
  const waits = shownCard ? "Waiting for you" : "";
  const count = others ? `(${others}) ` : "";
  document.title = count + [waits, name, title].filter(Boolean).join(" · ");
  dotIcon(others > 0 || waits !== "");
  element("conversation-title", HTMLElement).textContent = name;
}

/** @param {{text: string, question: string, attachments: Attachment[]}} refusal */
function refused({ text, question, attachments }) {
  tell(problem, text);
  announcer.warn(text);
  showWaiting(); // what is given back may be an answer again, before anything is drawn
  if (question || attachments.length) composer.giveBack(question, attachments);
}

/** @param {FileList} dropped */
function takeDropped(dropped) {
  uploads.add(dropped);
  composer.focus();
}

/** @param {{text: string, isProblem: boolean}} told */
function tellUpload({ text, isProblem }) {
  if (isProblem) announcer.warn(text);
  else announcer.say(text);
}

/** @param {{text: string, isProblem: boolean}} told */
function tellMemory({ text, isProblem }) {
  tell(problem, isProblem ? text : "");
  tell(memoryNotice, isProblem ? "" : text);
  if (isProblem) announcer.warn(text);
  else announcer.say(text);
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
  if (id === session.conversation.id) location.assign(page.ended ? "/" : base);
  // What had the focus is gone.
  else element("new-chat", HTMLAnchorElement).focus();
}

/** @param {KeyboardEvent} event */
function stopByKey(event) {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  session.stop();
}

/** Files are uploaded for a conversation that has yet to begin; a reload finds them again. */
function beginning() {
  const begin = sessionStorage.getItem(beginKey()) ?? uuid();
  if (!page.conversation) sessionStorage.setItem(beginKey(), begin);
  return begin;
}

function beginKey() {
  return `begin ${page.address}`;
}

/** What the person has written already stays. @param {string} text that the address of the page asks for */
function beginWith(text) {
  if (!composer.text.includes(text.trim())) composer.fill(composer.text ? `${composer.text}\n\n${text}` : text);
}

function draftKey() {
  return `${base}${session.conversation.id ?? ""}`;
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
