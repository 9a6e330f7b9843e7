/** The chat in the widget's frame: the elements and the session of the chat page, for one application. */

import { Announcer } from "../notices/announcer.js";
import { ChatComposer } from "../composer/composer.js";
import { ChatLog } from "../log/log.js";
import { ChatQueue } from "../composer/queue.js";
import { ChatStarters } from "../log/starters.js";
import { Connection } from "../session/connection.js";
import { showErrorsAtFields } from "../field-errors.js";
import { Follower } from "../log/follower.js";
import { JumpButton } from "../log/jump-button.js";
import { offerMissingTurns } from "../log/missing-turns.js";
import { openInteraction, openQuestion } from "../session/interactions.js";
import { readFilesBelow } from "../addresses.js";
import { sendBelow } from "../requests.js";
import { Session, uuid } from "../session/session.js";
import { gettext, language } from "../texts.js";
import { Uploads } from "../files/uploads.js";

/**
 * @import { Host } from "./host.js"
 * @import { Memory, Visitor } from "./visitor.js"
 * @import { Settings } from "./widget.js"
 * @import { Attachment } from "../session/frames.js"
 */

showErrorsAtFields();

const LOST = gettext("Connection lost. Reconnecting…");

export class Chat {
  #log = element("log", ChatLog);
  #composer = element("composer", ChatComposer);
  #queue = element("queue", ChatQueue);
  #starters = element("starters", ChatStarters);
  #notice = element("notice", HTMLElement);
  #problem = element("problem", HTMLElement);
  #jump = new JumpButton(element("jump", HTMLButtonElement));
  #announcer = new Announcer(element("said", HTMLElement), element("warned", HTMLElement), element("spoken", HTMLElement));
  #follower = new Follower(element("conversation", HTMLElement), (away) => this.#jump.show(away));
  #memory;
  #host;
  #key;
  #settings;
  #session;
  #drawing = false;

  /** @param {{settings: Settings, visitor: Visitor, memory: Memory, host: Host, ended: (code: string, text: string) => void}} given */
  constructor({ settings, visitor, memory, host, ended }) {
    this.#settings = settings;
    this.#memory = memory;
    this.#host = host;
    this.#key = `conversation ${visitor.visitor}`;
    sendBelow(settings.base, { Authorization: `Bearer ${visitor.token}`, "Accept-Language": language });
    readFilesBelow(visitor.files ?? "");
    const connection = new Connection(settings.socket);
    connection.greeting = { type: "token", token: visitor.token, host: host.origin, locale: language };
    const session = new Session(connection, memory.read(this.#key) || null, uuid());
    session.application = settings.application;
    this.#session = session;

    session.addEventListener("change", () => this.#scheduleDraw());
    session.addEventListener("opened", () => {
      const { id } = session.conversation;
      if (id) memory.write(this.#key, id);
    });
    session.addEventListener("event", (event) => {
      const said = detailOf(event);
      this.#announcer.tell(said);
      if (said.type !== "message.complete") return;
      this.#jump.note();
      host.tell("message", { role: "assistant" });
    });
    session.addEventListener("queued", () => this.#announcer.say(gettext("Message queued. It will be sent after this answer.")));
    session.addEventListener("refused", (event) => {
      const { text, code, question, attachments } = detailOf(event);
      if (code === "conversation_not_found") return this.begin();
      host.tell("error", { code, text });
      if (code === "token_invalid") return ended(code, text);
      this.#tell(this.#problem, text);
      this.#announcer.warn(text);
      if (question || attachments.length) this.#composer.giveBack(question, attachments);
    });
    this.#composer.addEventListener("ask", (event) => {
      const { text, attachments, isAnswer } = detailOf(event);
      if (isAnswer) session.answerWords(text);
      else this.ask(text, attachments);
    });
    this.#composer.addEventListener("stop", () => session.stop());
    this.#queue.addEventListener("order", (event) => {
      const { type, id, changes } = detailOf(event);
      session.queueOrder(type, id, changes);
    });
    this.#queue.addEventListener("left", () => this.#composer.focus());
    for (const offering of [this.#log, this.#starters]) {
      offering.addEventListener("starter", (event) => this.ask(detailOf(event).text));
    }
    this.#log.addEventListener("branch-ask", (event) => {
      const { text = "", attachments, ...branching } = detailOf(event);
      session.ask(text, attachments, branching);
      this.#composer.focus(); // Its button is gone.
    });
    this.#log.addEventListener("branch-change", (event) => {
      const { type, message } = detailOf(event);
      session.changeBranches(type, message);
    });
    this.#log.addEventListener("answer", (event) => session.answer(detailOf(event)));
    this.#log.addEventListener("subagent-stop", (event) => session.stopSubagent(detailOf(event)));
    element("jump", HTMLButtonElement).addEventListener("click", () => {
      this.#follower.follow();
      this.#composer.focus();
    });
    document.addEventListener("visibilitychange", () => session.tellVisibility());
    offerMissingTurns(this.#log, session, this.#follower, () => "/");
    this.#show();
    if (settings.uploads) this.#offerUploads(settings.uploads);
    connection.connect();
    this.#draw();
  }

  /** @param {string} text data of the site about its page */
  set context(text) {
    this.#session.narrative = text;
  }

  focus() {
    void this.#composer.updateComplete.then(() => this.#composer.focus());
  }

  /** @param {string} text @param {Attachment[]} [attachments] */
  ask(text, attachments = []) {
    this.#tell(this.#problem, "");
    this.#session.ask(text, attachments);
    this.#host.tell("message", { role: "user" });
    this.#draw(); // The question appears in this frame.
    this.#follower.follow();
  }

  /** Start another conversation. */
  begin() {
    this.#memory.write(this.#key, "");
    this.#tell(this.#problem, "");
    this.#announcer.clear();
    this.#session.switchTo(null, uuid(), this.#settings.application);
    this.#composer.focus();
  }

  /** @returns {boolean} true if an answer was stopped */
  stop() {
    const { busy } = this.#session;
    this.#session.stop();
    return busy;
  }

  /** @param {import("../files/uploads.js").Limits} limits */
  #offerUploads(limits) {
    const session = this.#session;
    const uploads = new Uploads(`${this.#settings.base}/files/`, limits, () => session.conversation.id ?? session.begin);
    uploads.addEventListener("told", (event) => {
      const { text, isProblem } = detailOf(event);
      if (isProblem) this.#announcer.warn(text);
      else this.#announcer.say(text);
    });
    this.#composer.uploads = uploads;
  }

  #show() {
    const { title, description, tile, starters, textLimit } = this.#settings;
    Object.assign(this.#log, { heading: title, description, application: tile, starters });
    this.#starters.offered = starters;
    this.#log.limit = this.#composer.limit = textLimit;
  }

  /** Merges many frames into one redraw. */
  #scheduleDraw() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  #draw() {
    const { conversation, loaded, busy, state, queue, sendingToQueue, readOnly } = this.#session;
    const connected = state === "open";
    Object.assign(this.#log, { turns: [...conversation.turns], loaded, busy, connected, branches: conversation.branches });
    this.#log.setAttribute("aria-busy", String(busy));
    Object.assign(this.#queue, { messages: queue, sending: sendingToQueue, busy });
    Object.assign(this.#composer, {
      busy,
      ready: loaded,
      connected,
      waiting: loaded && openInteraction(conversation.running) !== undefined,
      answering: loaded && openQuestion(conversation.running) !== undefined,
      disabled: this.#whyDisabled(),
    });
    const isFresh = loaded && !conversation.turns.length;
    document.body.classList.toggle("fresh", isFresh);
    this.#follower.isPaused = isFresh;
    this.#tell(this.#notice, readOnly || (state === "lost" ? LOST : ""));
  }

  #whyDisabled() {
    if (this.#session.readOnly) return gettext("You can’t send messages during maintenance");
    if (this.#session.state === "refused") return gettext("Reload the page to continue");
    return this.#settings.starters.chat_message_input_disabled ? gettext("Choose one of the actions above") : "";
  }

  /** @param {HTMLElement} place @param {string} text "" hides the place */
  #tell(place, text) {
    place.hidden = !text;
    const words = place.querySelector("span");
    if (words && words.textContent !== text) words.textContent = text;
  }
}

/**
 * @template {HTMLElement} T
 * @param {string} id @param {new () => T} kind
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
