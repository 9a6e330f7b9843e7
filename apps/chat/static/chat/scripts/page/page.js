/** The chat page: one session, and the elements that show it. */

import "../session/socket-opening.js"; // First, before the modules that define elements.
import { wireComposer } from "../composer/wiring.js";
import { ClientCalls } from "./client-calls.js";
import { Drafts } from "../composer/drafts.js";
import { acceptDrops } from "../files/dropping.js";
import { sumOf, sumText } from "../answer/figures.js";
import { offerGauge } from "../log/gauge.js";
import { offerMissingTurns } from "../log/missing-turns.js";
import { comeBackTo, offerDownload, showApplication, takeData, writtenData } from "./application.js";
import { forgetChange, offerBranches } from "./branches.js";
import { focusCard, showWaiting } from "./cards.js";
import { offerFields } from "./fields.js";
import { clearNotices, offerUndo, showConnection, tellProblem, tellUpload } from "./notices.js";
import {
  announcer,
  composer,
  detailOf,
  element,
  files,
  follower,
  gauge,
  history,
  jump,
  log,
  page,
  problem,
  queue,
  read,
  starters,
  tell,
  toast,
  todo,
} from "./parts.js";
import { beginOrContinue } from "./beginning.js";
import { offerSelection } from "./selection.js";
import { offerSharing } from "./sharing.js";
import { base, connection, draftKey, forgetBeginning, session, uploads } from "./session.js";
import { confirmLeft, go, keepLeft, noteAddress, offerSwitching } from "./switching.js";
import { calling, entitle } from "./title.js";
import { fixKeeping } from "./temporary.js";
import { afterPainting } from "../painting.js";
import { PageTools } from "./tools.js";
import { ChatQuestion } from "../log/question.js";
import { offerCollapsing } from "../rail/collapse.js";
import { offerSwipes } from "../rail/sidebar-swipe.js";
import { keepUnsent } from "../session/unsent-questions.js";
import "../steps/level-switch.js";
import { gettext } from "../texts.js";

/**
 * @import { Starter } from "../log/starters.js"
 * @import { Undoable } from "../rail/actions.js"
 * @import { Row } from "../rail/rows.js"
 * @import { Attachment } from "../session/frames.js"
 */

/** Milliseconds after which the list of a loaded page is outdated. */
const FRESH = 30_000;
const sum = element("conversation-sum", HTMLElement);
const tools = new PageTools();
const newChat = element("new-chat", HTMLAnchorElement);
let drawing = false;

composer.drafts = new Drafts(page.account ?? "");
composer.uploads = uploads;
takeData(writtenData());
showApplication();
history.current = session.conversation.id;
history.rows.begin(read("rail-data"));
offerGauge(gauge, log, session, base);
offerMissingTurns(log, session, follower, base);
entitle();
offerSwitching();
offerSwipes(element("sidebar", HTMLElement), element("menu", HTMLButtonElement));
offerCollapsing();
offerSelection();
offerSharing();
offerBranches();

session.addEventListener("change", scheduleDraw);
session.addEventListener("opened", (event) => opened(detailOf(event)));
session.addEventListener("event", (event) => {
  announcer.tell(detailOf(event));
  if (detailOf(event).type === "message.complete") jump.note();
});
session.addEventListener("listed", (event) => history.rows.take(detailOf(event)));
session.addEventListener("folders", (event) => history.rows.takeFolders(detailOf(event)));
session.addEventListener("calling", (event) => {
  calling.take(detailOf(event));
  entitle();
});
session.addEventListener("queued", () => announcer.say(gettext("Message queued. It will be sent after this answer.")));
session.addEventListener("moved", () => location.assign("/"));
session.addEventListener("refused", (event) => refused(detailOf(event)));
composer.addEventListener("ask", (event) => send(detailOf(event)));
queue.addEventListener("order", (event) => order(detailOf(event)));
queue.addEventListener("left", (event) => {
  announcer.say(detailOf(event) === "queue.remove" ? gettext("Message removed.") : gettext("Message sent."));
  composer.focus();
});
composer.addEventListener("stop", () => session.stop());
files.addEventListener("deleted", (event) => announcer.say(gettext("{name} deleted.", { name: detailOf(event).name })));
acceptDrops(element("drop", HTMLElement), (dropped) => takeDropped(dropped), () => !composer.disabled);
uploads.addEventListener("told", (event) => tellUpload(detailOf(event)));
for (const offering of [log, starters]) offering.addEventListener("starter", (event) => start(detailOf(event)));
log.addEventListener("branch-ask", (event) => {
  ask(detailOf(event));
  composer.focus(); // Its button is gone.
});
log.addEventListener("answer", (event) => {
  tell(problem, "");
  focusCard(); // Its button is about to be disabled.
  session.answer(detailOf(event));
});
log.addEventListener("subagent-stop", (event) => session.stopSubagent(detailOf(event)));
offerFields(tools, describePage, offerUndo);
tools.publish();
new ClientCalls(tools, session);
element("conversation-title", HTMLButtonElement).addEventListener("click", () => rename());
history.addEventListener("renamed", (event) => renamed(detailOf(event)));
history.addEventListener("undoable", (event) => changed(detailOf(event)));
history.addEventListener("said", (event) => announcer.say(detailOf(event)));
history.rows.addEventListener("change", () => retitled());
connection.addEventListener("open", () => reconnected());
toast.addEventListener("left", () => newChat.focus());
element("jump", HTMLButtonElement).addEventListener("click", () => {
  follower.follow();
  composer.focus();
});
addEventListener("keydown", stopByKey);
wireComposer({ composer, session, announcer, starters: () => log.starters.starters, base, tell: tellProblem, go });
composer.addEventListener("edit-last", (event) => editLast(event));
document.addEventListener("visibilitychange", () => session.tellVisibility());

const unsent = keepUnsent(session, page.account ?? "", draftKey);
connection.connect();
draw();
if (unsent) void composer.updateComplete.then(() => composer.giveBack(unsent, []));
if (page.draft) void composer.updateComplete.then(() => beginWith(page.draft ?? ""));
// On a touch screen, the focus would open the keyboard over the page.
if (matchMedia("(pointer: fine)").matches) afterPainting(focusComposer);

/** Unless the user went elsewhere before the page was ready. */
function focusComposer() {
  if (document.activeElement === document.body) composer.focus();
}

/** Merges many frames into one redraw. */
function scheduleDraw() {
  if (log.loaded !== session.loaded) return draw(); // The user waits for the conversation.
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
  log.connected = session.state === "open";
  log.branches = session.conversation.branches;
  log.setAttribute("aria-busy", String(session.busy));
  composer.busy = session.busy;
  composer.ready = session.loaded;
  composer.connected = log.connected;
  beginOrContinue(session.loaded && !log.turns.length && !page.ended);
  queue.messages = session.queue;
  queue.sending = session.sendingToQueue;
  queue.busy = session.busy;
  todo.text = session.conversation.todo;
  composer.disabled = whyDisabled();
  if (!session.busy) tell(sum, sumText(sumOfAll()));
  showConnection();
  if (showWaiting()) entitle();
}

/** The page adds up the loaded answers. If the beginning is not loaded, the server provides the sum. */
function sumOfAll() {
  const { conversation } = session;
  const known = gauge.use?.sum;
  return known && !conversation.isWhole ? known : sumOf(conversation.turns);
}

/** The description of the page for tools, in addition to its fields. */
function describePage() {
  const { id, title } = session.conversation;
  return { application: page.title, address: location.pathname, conversation: { id, title } };
}

function whyDisabled() {
  if (page.ended) return page.ended;
  if (session.state === "refused") return gettext("Reload the page to continue");
  if (session.readOnly) return gettext("You can’t send messages during maintenance");
  return log.starters.chat_message_input_disabled ? gettext("Choose one of the actions above") : "";
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

/** Fetch what was missed while disconnected; a newly loaded page is up to date. */
function reconnected() {
  if (performance.now() > FRESH) void history.rows.refresh();
}

/** @param {{text?: string, attachments?: Attachment[]} & import("../session/session.js").Branching} question */
function ask({ text = "", attachments, ...branching }) {
  clearNotices();
  session.ask(text, attachments, branching);
  draw(); // The question appears in this frame.
  follower.follow();
}

/** @param {Starter} starter */
function start({ text }) {
  if (log.starters.auto_submit === false && !log.starters.chat_message_input_disabled) {
    composer.fill(text);
    return;
  }
  ask({ text });
  composer.focus();
}

/** @param {{isNew: boolean}} opened */
function opened({ isNew }) {
  const { id } = session.conversation;
  confirmLeft();
  if (isNew && id) {
    window.history.replaceState(null, "", `${base()}${id}/${location.search}`);
    forgetBeginning();
    composer.moveDraft(draftKey());
    history.current = id;
    files.conversation = id;
    composer.application = null;
    offerDownload();
    fixKeeping();
    noteAddress();
    comeBackTo(location.pathname);
  }
  entitle();
}

/** @param {{text: string, question: string, attachments: Attachment[]}} refusal */
function refused({ text, question, attachments }) {
  keepLeft();
  forgetChange();
  tell(problem, text);
  announcer.warn(text);
  showWaiting(); // A restored message may be an answer again, so this is set before drawing.
  if (question || attachments.length) composer.giveBack(question, attachments);
}

/** @param {FileList} dropped */
function takeDropped(dropped) {
  uploads.add(dropped);
  composer.focus();
}

/** The open conversation, even if its row is not loaded in the sidebar. */
function rename() {
  const { id, title } = session.conversation;
  if (id) history.rename(history.rows.find(id) ?? { id, title, address: `${base()}${id}/` });
}

/** @param {Row} row */
function renamed({ id, title }) {
  if (id !== session.conversation.id) return;
  session.conversation.title = title;
  entitle();
}

/** The sidebar gets titles from a model or from another tab. */
function retitled() {
  const { id } = session.conversation;
  const row = history.rows.find(id);
  session.conversation.title = row?.title || session.conversation.title;
  entitle();
  // It continues with another application, where it has another URL.
  if (row && base() !== addressOf(row) && !row.application.ended) void go(new URL(row.address, location.href).href);
}

/** @param {Row} row @returns {string} of its application */
function addressOf({ address, id }) {
  return address.slice(0, address.indexOf(`${id}/`));
}

/** Conversations were deleted or archived. @param {Undoable} done */
function changed({ rows, text, isDeletion, undo }) {
  const open = isDeletion ? rows.find(({ id }) => id === session.conversation.id) : undefined;
  announcer.say(`${text} ${gettext("You can undo this.")}`);
  if (open) void go(newChat.href, { takesFocus: false }); // Undo still has it.
  void toast.show(text, () => undoChange(undo, open));
}

/** @param {Undoable["undo"]} undo @param {Row} [open] that was open before */
async function undoChange(undo, open) {
  const wrong = await undo();
  tell(problem, wrong);
  announcer.say(wrong || gettext("Undone."));
  if (open && !wrong) await go(new URL(open.address, location.href).href);
  else newChat.focus();
}

/** @param {Event} event which leaves the cursor where it is if there is nothing to edit */
function editLast(event) {
  const question = [...log.querySelectorAll("chat-question")].at(-1);
  if (question instanceof ChatQuestion && question.edit()) event.preventDefault();
}

/** @param {KeyboardEvent} event */
function stopByKey(event) {
  if (event.key !== "Escape" || event.shiftKey || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog:modal, :popover-open")) return;
  session.stop();
}

/** Keeps text that the user has already typed. @param {string} text that the address of the page asks for */
function beginWith(text) {
  if (!composer.text.includes(text.trim())) composer.fill(composer.text ? `${composer.text}\n\n${text}` : text);
}
