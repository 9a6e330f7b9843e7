/** The actions of a finished answer, and its details. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { ActionRow, branchActions, changeBranches } from "./actions.js";
import { textOf } from "../session/answers.js";
import { copy } from "../clipboard.js";
import { feedbackOn } from "./feedback.js";
import { figureLine } from "./figures.js";
import { offeredModels } from "../session/offered-models.js";
import { itemsIn, RowMenu } from "../rail/row-menu.js";
import { canSpeak, hush, speak } from "./speech.js";
import { gettext } from "../texts.js";

const BRANCHES = { previous: gettext("Previous answer"), next: gettext("Next answer") };

/**
 * @import { Action } from "./actions.js"
 * @import { Answer } from "../session/answers.js"
 * @import { Branch } from "../session/frames.js"
 * @import { Item } from "../rail/row-menu.js"
 * @import { Question } from "../session/conversation.js"
 */

const COPIED_FOR = 2_000;
/** Prefix of a model's ID in the name of a menu item. */
const WITH = "with ";

/** Dispatches `branch-ask`, `branch-change`, `compare` (detail: the ID of the question) and `fork` (detail: the ID of the answer), which bubble. */
export class AnswerFoot extends LitElement {
  static properties = {
    answer: { attribute: false },
    version: { attribute: false },
    earlier: { attribute: false },
    asked: { attribute: false },
    branch: { attribute: false },
    changeable: { attribute: false },
    offersRetry: { attribute: false },
    copied: { state: true },
    reading: { state: true },
  };

  constructor() {
    super();
    /** @type {Answer | undefined} */
    this.answer = undefined;
    this.version = 0;
    /** @type {Answer[]} that it continues */
    this.earlier = [];
    /** @type {Question | undefined} that it answers */
    this.asked = undefined;
    /** @type {Branch | undefined} */
    this.branch = undefined;
    /** True if the conversation can be changed now. */
    this.changeable = false;
    /** True if the answer has a “Try again” button, which replaces “Answer again”. */
    this.offersRetry = false;
    this.copied = false;
    this.reading = false;
  }

  #redraw = () => this.requestUpdate();

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    offeredModels.addEventListener("change", this.#redraw);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    offeredModels.removeEventListener("change", this.#redraw);
    if (this.reading) hush();
  }

  render() {
    const { answer } = this;
    if (!answer) return nothing;
    return html`<div class="answer-foot">
      <action-row .label=${gettext("Answer actions")} .actions=${this.#actions()}></action-row>
      <row-menu @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => this.#choose(detail)}></row-menu>
      <span class="visually-hidden" aria-live="polite">${this.copied ? gettext("Copied") : ""}</span>
      ${answer.status === "failed" ? nothing : feedbackOn(answer.message?.id)} ${figureLine(answer)}
    </div>`;
  }

  /** @returns {Action[]} */
  #actions() {
    /** @param {string} message @param {string} name */
    const show = (message, name) => changeBranches(this, "branch.switch", message, name);
    /** @type {(Action | false)[]} */
    const actions = [
      ...branchActions(this.branch, BRANCHES, !this.changeable, show),
      this.#text() !== "" && {
        name: "copy",
        icon: this.copied ? "check" : "copy",
        label: gettext("Copy as Markdown"),
        run: () => this.#copy(this.#text()),
      },
      this.#changes !== "" &&
        !this.offersRetry && {
        name: "again",
        icon: "refresh-cw",
        label: gettext("Answer again"),
        run: () => this.#again(this.#changes),
      },
      this.reading && { name: "hush", icon: "square", label: gettext("Stop reading"), run: () => this.#hush() },
      this.#menu().length > 0 && {
        name: "more",
        icon: "ellipsis",
        label: gettext("More options for this answer"),
        opensMenu: true,
        run: (button) => this.#openMenu(button),
      },
    ];
    return actions.filter((action) => action !== false);
  }

  /** @returns {Item[][]} */
  #menu() {
    const isText = this.#text() !== "";
    const models = this.#changes ? offeredModels.all : [];
    return itemsIn([
      [
        isText && { name: "text", icon: "file-text", words: gettext("Copy as text") },
        isText && canSpeak && { name: "read", icon: "volume-2", words: gettext("Read aloud") },
      ],
      [
        ...models.map(({ id, title }) => ({ name: `${WITH}${id}`, icon: "refresh-cw", words: gettext("Answer again with {title}", { title }) })),
        (models.length > 0 || Boolean(this.branch)) && this.#changes !== "" && Boolean(this.answer?.message) && { name: "compare", icon: "columns-2", words: gettext("Compare models") },
        this.#changes !== "" && Boolean(this.answer?.message) && { name: "fork", icon: "square-pen", words: gettext("New chat from here") },
      ],
      [this.#changes !== "" && { name: "delete", icon: "trash-2", words: gettext("Delete question and answer"), deletes: true }],
    ]);
  }

  /** @param {HTMLElement} button */
  #openMenu(button) {
    const menu = this.querySelector("row-menu");
    if (menu instanceof RowMenu) void menu.open(this.#menu(), button);
  }

  /** @param {string} name of an item */
  #choose(name) {
    if (name === "text") void this.#copy(this.#seen());
    else if (name === "read") this.#readAloud();
    else if (name === "compare") this.dispatchEvent(new CustomEvent("compare", { bubbles: true, detail: this.#changes }));
    else if (name === "fork") this.dispatchEvent(new CustomEvent("fork", { bubbles: true, detail: this.answer?.message?.id }));
    else if (name === "delete") changeBranches(this, "turn.delete", this.#changes, "delete");
    else this.#again(this.#changes, name.slice(WITH.length));
  }

  /** The ID of the question if it can be changed, else "". */
  get #changes() {
    return this.changeable && this.asked && !this.asked.sending ? this.asked.id : "";
  }

  /** @param {string} text */
  async #copy(text) {
    this.copied = await copy(text);
    setTimeout(() => (this.copied = false), COPIED_FOR);
  }

  /** The button disappears with it. */
  #hush() {
    const row = this.querySelector("action-row");
    if (row instanceof ActionRow) row.focusOn("more");
    hush();
  }

  #readAloud() {
    speak(this.#seen(), () => (this.reading = false));
    this.reading = true;
  }

  /** @param {string} id of the question @param {string} [deployment] the model that answers */
  #again(id, deployment) {
    const detail = deployment ? { again: id, deployment } : { again: id };
    this.dispatchEvent(new CustomEvent("branch-ask", { bubbles: true, detail }));
  }

  #text() {
    return [...this.earlier, ...(this.answer ? [this.answer] : [])].map(textOf).join("");
  }

  /** The text as displayed, without Markdown syntax. */
  #seen() {
    const ids = new Set([...this.earlier, this.answer].map((answer) => answer?.id));
    const log = this.closest("chat-log");
    return [...(log?.querySelectorAll("chat-answer") ?? [])]
      .filter((one) => ids.has(/** @type {any} */ (one).answer?.id))
      .flatMap((one) => [...one.querySelectorAll(".answer-text")])
      // biome-ignore lint/performance/useDomNodeTextContent: as it is laid out, with the line breaks of blocks.
      .map((one) => /** @type {HTMLElement} */ (one).innerText)
      .join("\n");
  }
}
customElements.define("answer-foot", AnswerFoot);
