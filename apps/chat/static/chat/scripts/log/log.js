/** The turns of a conversation, or an introduction before the first one. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { icon, tile } from "../icons.js";
import { groupsOf, messageOf, shownTurns } from "./shown-turns.js";
import { gettext } from "../texts.js";
import { turnDeletion } from "./turn-deletion.js";
import { stateOf } from "./turns.js";
import { awaiting } from "../answer/working.js";
import { NO_STARTERS } from "./starters.js";

/**
 * @import { Answer } from "../session/answers.js"
 * @import { Question } from "../session/conversation.js"
 * @import { Branch } from "../session/frames.js"
 * @import { Summary } from "./gauge.js"
 * @import { Missing, ShownTurn } from "./shown-turns.js"
 * @import { Tile } from "../icons.js"
 * @import { ChatTurns } from "./turns.js"
 * @import { Starters } from "./starters.js"
 */

const SHOWN_CHARACTERS = 200;
/** Milliseconds for which a message is marked after a jump. */
const MARKED = 3_000;
/** The distance from the viewport at which turns are drawn, and missing ones fetched. */
const DRAWN = "1200px 0px";
const FETCHED = "800px 0px";

/**
 * Dispatches `gap` (detail: the missing part), and forwards `starter` of the starters, `answer` of the cards, `branch-ask` and `branch-change` of the turns. A deletion is forwarded only after the user has confirmed it.
 */
export class ChatLog extends LitElement {
  static properties = {
    turns: { attribute: false },
    loaded: { attribute: false },
    busy: { attribute: false },
    connected: { attribute: false },
    branches: { attribute: false },
    deleting: { state: true },
    greeting: { attribute: false },
    isOnly: { attribute: false },
    heading: { attribute: false },
    description: { attribute: false },
    starters: { attribute: false },
    ended: { attribute: false },
    application: { attribute: false },
    summary: { attribute: false },
    problem: { attribute: false },
  };

  #sight = new IntersectionObserver((entries) => this.#place(entries), { rootMargin: DRAWN });
  /** @type {Promise<unknown>} */
  #moved = Promise.resolve();
  #gaps = new IntersectionObserver((entries) => this.#meet(entries), { rootMargin: FETCHED });

  constructor() {
    super();
    /** @type {(Question | Answer)[]} */
    this.turns = [];
    this.loaded = true;
    this.busy = false;
    this.connected = true;
    /** @type {Record<string, Branch>} */
    this.branches = {};
    /** @type {{message: string, origin: Element} | null} the turn that the user has to confirm */
    this.deleting = null;
    this.limit = Infinity;
    this.addEventListener("branch-change", (event) => this.#askFirst(/** @type {CustomEvent} */ (event)));
    /** Shown instead of the application, "" for nothing. */
    this.greeting = "";
    /** Whether the user has no other application, so that no list shows what it does. */
    this.isOnly = false;
    this.heading = "";
    this.description = "";
    /** @type {Tile} */
    this.application = { letters: "", tile: "" };
    /** True if no more questions can be asked. */
    this.ended = false;
    /** @type {Summary | null} the summary that the model reads in place of the beginning */
    this.summary = null;
    /** The reason why missing turns could not be loaded, or "". */
    this.problem = "";
    /** @type {Starters} */
    this.starters = NO_STARTERS;
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    addEventListener("beforeprint", this.drawAll);
    addEventListener("afterprint", this.#lookAgain);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    removeEventListener("beforeprint", this.drawAll);
    removeEventListener("afterprint", this.#lookAgain);
    this.#sight.disconnect();
    this.#gaps.disconnect();
  }

  render() {
    if (!this.loaded) return html`<p class="loading working">${gettext("Loading the conversation…")}</p>`;
    if (!this.turns.length) return this.#welcome();
    return html`${repeat(
      groupsOf(shownTurns(this.turns)),
      ({ key }) => key,
      (group) => (group.missing ? this.#gap(group.missing) : this.#turns(group.turns)),
    )}
    ${awaiting(this.turns.at(-1), this.busy, this.connected)}
    ${this.starters.chat_message_input_disabled && !this.busy ? html`<chat-starters .offered=${this.starters}></chat-starters>` : nothing}
    ${this.deleting ? this.#deletion(this.deleting) : nothing}`;
  }

  /** @param {CustomEvent} event */
  #askFirst(event) {
    const { type, message, isConfirmed } = event.detail;
    if (type !== "turn.delete" || isConfirmed) return;
    event.stopImmediatePropagation();
    this.deleting = { message, origin: /** @type {Element} */ (event.target) };
  }

  /** @param {{message: string, origin: Element}} deleting */
  #deletion({ message, origin }) {
    const turn = this.turns.find(({ id }) => id === message);
    const cancel = () => {
      this.deleting = null;
      /** @type {import("../answer/actions.js").ActionRow | null} */ (origin.querySelector("action-row"))?.focusOn(origin.localName === "answer-foot" ? "more" : "delete");
    };
    const confirm = () => {
      this.deleting = null;
      const detail = { type: "turn.delete", message, name: "delete", isConfirmed: true };
      this.dispatchEvent(new CustomEvent("branch-change", { detail }));
    };
    return turnDeletion({ text: turn?.role === "user" ? turn.text.slice(0, SHOWN_CHARACTERS) : "", cancel, confirm });
  }

  updated() {
    const dialog = this.querySelector("dialog.turn-deletion");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
    for (const group of this.#groups) this.#sight.observe(group);
    this.#gaps.disconnect();
    // A gap that is still in view is reported again.
    if (!this.problem) for (const gap of this.querySelectorAll(".gap")) this.#gaps.observe(gap);
  }

  /**
   * Make a change above or below the visible turn without moving it.
   * @param {() => void} change
   * @returns {Promise<void>}
   */
  keepPlace(change) {
    return this.#next(() => this.#keepPlace(change));
  }

  /**
   * Changes move the page one at a time, because each invalidates measurements for the next.
   * @template Result
   * @param {() => Promise<Result>} move
   */
  #next(move) {
    const moved = this.#moved.then(move);
    this.#moved = moved.catch(() => {});
    return moved;
  }

  /** @param {() => void} change */
  async #keepPlace(change) {
    const anchor = [...this.querySelectorAll(".turn")].find((turn) => turn.getBoundingClientRect().bottom > 0);
    const before = anchor?.getBoundingClientRect().top ?? 0;
    change();
    await this.#drawn();
    if (anchor?.isConnected) scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
  }

  /** Elements draw nested elements; scrolling needs all of them. */
  async #drawn() {
    await this.updateComplete;
    await Promise.all(this.#groups.map((group) => group.updateComplete));
    const answers = [...this.querySelectorAll("chat-answer")];
    await Promise.all(answers.map((answer) => /** @type {LitElement} */ (answer).updateComplete));
  }

  /** Scroll to a message. @param {string} id @returns {Promise<boolean>} false if it is not loaded */
  reveal(id) {
    return this.#next(() => this.#reveal(id));
  }

  /** @param {string} id */
  async #reveal(id) {
    const turn = this.turns.find((one) => messageOf(one) === id);
    await this.updateComplete;
    const group = turn && this.#groups.find(({ turns }) => turns.some((shown) => shown.turn === turn));
    if (!group) return false;
    group.near = true;
    await this.#drawn();
    const shown = document.getElementById(`message-${id}`);
    if (!shown) return false;
    shown.tabIndex = -1;
    shown.scrollIntoView({ block: "start", behavior: "instant" });
    shown.focus({ preventScroll: true });
    shown.toggleAttribute("data-found", true);
    setTimeout(() => shown.removeAttribute("data-found"), MARKED);
    return true;
  }

  /** @returns {ChatTurns[]} */
  get #groups() {
    return [...this.querySelectorAll("chat-turns")].map((group) => /** @type {ChatTurns} */ (group));
  }

  /** Draw the turns that are far from the screen as well, as for a print. */
  drawAll = () => {
    for (const group of this.#groups) group.near = true;
    return this.#drawn();
  };

  #lookAgain = () => {
    this.#sight.disconnect();
    this.requestUpdate();
  };

  /** @param {IntersectionObserverEntry[]} entries */
  #place(entries) {
    void this.keepPlace(() => {
      for (const { target, isIntersecting, boundingClientRect } of entries)
        /** @type {ChatTurns} */ (target).place(isIntersecting, boundingClientRect.height);
    });
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #meet(entries) {
    const met = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    const missing = /** @type {{missing?: Missing} | undefined} */ (met)?.missing;
    if (missing) this.dispatchEvent(new CustomEvent("gap", { detail: missing }));
  }

  /** @param {ShownTurn[]} turns */
  #turns(turns) {
    return html`<chat-turns
      .turns=${turns}
      .state=${stateOf(turns)}
      .last=${turns.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy && !this.ended}
      .limit=${this.limit}
    ></chat-turns>`;
  }

  /** @param {Missing} missing */
  #gap(missing) {
    const load = () => this.dispatchEvent(new CustomEvent("gap", { detail: missing }));
    return html`<div class="gap" .missing=${missing}>
      ${this.problem ? html`<p class="notice problem" role="alert">${icon("circle-alert")}<span>${this.problem}</span></p>` : nothing}
      <button type="button" class="button" @click=${load}>${missing.after ? gettext("Show the next messages") : gettext("Show earlier messages")}</button>
    </div>`;
  }

  #welcome() {
    if (this.greeting) {
      const about = html`<p class="description" dir="auto"><strong dir="auto">${this.heading}</strong>${this.description}</p>`;
      return html`<div class="welcome"><h2 dir="auto">${this.greeting}</h2>${this.isOnly ? about : nothing}</div>`;
    }
    return html`<div class="welcome">
      ${tile(this.application, "large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description ? html`<p class="description" dir="auto">${this.description}</p>` : nothing}
    </div>`;
  }
}
customElements.define("chat-log", ChatLog);
