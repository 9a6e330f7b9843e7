/** What can be done with an answer that is over, and how it came about. */

import { html, LitElement, nothing } from "../vendor/lit.js";
import { branchActions, changeBranches } from "./answer-actions.js";
import { textOf } from "./answers.js";
import { copy } from "./clipboard.js";
import { feedbackOn } from "./feedback.js";
import { figureLine } from "./figures.js";
import { offeredModels } from "./offered-models.js";
import { RowMenu } from "./row-menu.js";
import { canSpeak, hush, speak } from "./speech.js";
import { gettext } from "./texts.js";

const BRANCHES = { previous: gettext("Previous answer"), next: gettext("Next answer") };

/**
 * @import { Action } from "./answer-actions.js"
 * @import { Answer } from "./answers.js"
 * @import { Branch } from "./frames.js"
 * @import { Question } from "./conversation.js"
 */

const COPIED_FOR = 2_000;

/** Dispatches `branch-ask` and `branch-change`, which bubble. */
export class AnswerFoot extends LitElement {
  static properties = {
    answer: { attribute: false },
    version: { attribute: false },
    earlier: { attribute: false },
    asked: { attribute: false },
    branch: { attribute: false },
    changeable: { attribute: false },
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
    /** Whether the conversation can be changed now. */
    this.changeable = false;
    /** The name of the button that has copied, "" for none. */
    this.copied = "";
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
      <action-row .label=${gettext("Actions of the answer")} .actions=${this.#actions()}></action-row>
      ${offeredModels.all.length && this.changeable
        ? html`<row-menu @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => this.#again(this.asked?.id ?? "", detail)}></row-menu>`
        : nothing}
      <span class="visually-hidden" aria-live="polite">${this.copied ? gettext("Copied") : ""}</span>
      ${feedbackOn(answer.message?.id)} ${figureLine(answer)}
    </div>`;
  }

  /** @returns {Action[]} */
  #actions() {
    const text = this.#text();
    const id = this.asked?.sending ? "" : (this.asked?.id ?? "");
    /** @param {string} message @param {string} name */
    const show = (message, name) => changeBranches(this, "branch.switch", message, name);
    return [
      ...branchActions(this.branch, BRANCHES, !this.changeable, show),
      ...(text
        ? [this.#copying("copy", "copy", gettext("Copy as Markdown"), text), this.#copying("text", "file-text", gettext("Copy as text"))]
        : []),
      ...(text && canSpeak ? [this.#readAloud()] : []),
      ...(id && this.changeable
        ? [
            { name: "again", icon: "refresh-cw", label: gettext("Answer again"), run: () => this.#again(id) },
            ...(offeredModels.all.length ? [this.#againWith()] : []),
            {
              name: "delete",
              icon: "trash-2",
              label: gettext("Delete question and answer"),
              run: () => changeBranches(this, "turn.delete", id, "delete"),
            },
          ]
        : []),
    ];
  }

  /** @param {string} name @param {string} icon @param {string} label @param {string} [text] else what is seen */
  #copying(name, icon, label, text) {
    const run = async () => {
      this.copied = (await copy(text ?? this.#seen())) ? name : "";
      setTimeout(() => (this.copied = ""), COPIED_FOR);
    };
    return { name, icon: this.copied === name ? "check" : icon, label, run };
  }

  #readAloud() {
    const run = () => {
      if (this.reading) return hush();
      speak(this.#seen(), () => (this.reading = false));
      this.reading = true;
    };
    const [icon, label] = this.reading ? ["square", gettext("Stop reading")] : ["volume-2", gettext("Read aloud")];
    return { name: "read", icon, label, run };
  }

  /** @returns {Action} */
  #againWith() {
    const items = offeredModels.all.map(({ id, title }) => ({ name: id, words: gettext("With {title}", { title }), icon: "refresh-cw" }));
    /** @param {HTMLElement} button */
    const run = (button) => {
      const menu = this.querySelector("row-menu");
      if (menu instanceof RowMenu) void menu.open(items, button);
    };
    return { name: "again-with", icon: "ellipsis", label: gettext("Answer again with another model"), run, opensMenu: true };
  }

  /** @param {string} id of the question @param {string} [deployment] the model that answers */
  #again(id, deployment) {
    const detail = deployment ? { again: id, deployment } : { again: id };
    this.dispatchEvent(new CustomEvent("branch-ask", { bubbles: true, detail }));
  }

  #text() {
    return [...this.earlier, ...(this.answer ? [this.answer] : [])].map(textOf).join("");
  }

  /** The text as it is shown, without its marks. */
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
