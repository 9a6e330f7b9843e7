/** Answers of different models to one question, side by side. They are branches of the conversation, which writes one answer at a time. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { secondsText } from "../durations.js";
import { attachmentCards } from "../files/attachments.js";
import { icon } from "../icons.js";
import { isGoing, textOf } from "../session/answers.js";
import { offeredModels } from "../session/offered-models.js";
import { announcer, composer } from "../page/parts.js";
import { base, session } from "../page/session.js";
import { get } from "../requests.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";
import { ratePicked } from "./picked-answer.js";
import { working } from "./working.js";

/**
 * @import { Attachment } from "../session/frames.js"
 * @import { OfferedModel } from "../session/offered-models.js"
 *
 * @typedef {object} StoredAnswer
 * @property {string} id
 * @property {string} text
 * @property {Attachment[]} attachments
 * @property {string} finish_reason
 * @property {string[]} models
 * @property {number | null} seconds
 * @property {boolean} is_shown whether the conversation continues from it
 *
 * @typedef {{name: string, title: string, detail: string, body: unknown, act: unknown}} Column
 */

const MOST = 3;
const styles = new URL("../../styles/comparison.css", import.meta.url).href;

/** @param {string} question its ID */
export async function compare(question) {
  await loadStyles(styles);
  const opened = new ModelComparison();
  opened.question = question;
  document.body.append(opened);
}

export class ModelComparison extends LitElement {
  static properties = {
    answers: { state: true },
    asked: { state: true },
    waiting: { state: true },
    failed: { state: true },
    problem: { state: true },
    shown: { state: true },
  };

  constructor() {
    super();
    /** The ID of the question. */
    this.question = "";
    /** @type {StoredAnswer[] | null} null while they are being loaded */
    this.answers = null;
    /** @type {OfferedModel | null} the model that is answering */
    this.asked = null;
    /** @type {OfferedModel[]} the models that answer after it */
    this.waiting = [];
    /** The reasons why models did not answer. */
    this.failed = "";
    /** The reason why the answers could not be loaded, or the rating could not be stored, or "". */
    this.problem = "";
    /** The column that is shown where there is room for one. */
    this.shown = 0;
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    session.addEventListener("change", this.#follow);
    session.addEventListener("refused", this.#refused);
    session.addEventListener("switched", this.#close);
    void this.#load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    session.removeEventListener("change", this.#follow);
    session.removeEventListener("refused", this.#refused);
    session.removeEventListener("switched", this.#close);
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  async #load() {
    const told = await get(`${base()}${session.conversation.id}/answers/?message=${this.question}`);
    this.problem = told ? "" : gettext("The answers could not be loaded. Check the connection and try again.");
    this.answers = told?.answers ?? this.answers ?? [];
  }

  render() {
    const columns = this.#columns();
    const shown = Math.min(this.shown, columns.length - 1);
    return html`<dialog class="comparison" aria-labelledby="comparison-heading" @close=${this.#left}>
      <div class="comparison-head">
        <h2 id="comparison-heading" tabindex="-1" autofocus>${gettext("Compare models")}</h2>
        ${this.asked ? html`<button type="button" class="button" @click=${this.#stop}>${icon("square")}${gettext("Stop")}</button>` : nothing}
        <button type="button" class="quiet" title=${gettext("Close")} @click=${this.#close}>${icon("x")}<span class="visually-hidden">${gettext("Close")}</span></button>
      </div>
      ${this.problem || this.failed ? html`<p class="comparison-problem" role="alert" dir="auto">${this.problem || this.failed}</p>` : nothing}
      <div class="comparison-tabs" role="group" aria-label=${gettext("Answers")}>
        ${columns.map(({ title }, place) => html`<button type="button" class="quiet" dir="auto" aria-pressed=${String(place === shown)} @click=${() => (this.shown = place)}>${title}</button>`)}
      </div>
      <div class="comparison-columns">${columns.map((column, place) => this.#column(column, place === shown))}</div>
    </dialog>`;
  }

  /** @returns {Column[]} */
  #columns() {
    if (!this.answers) return [{ name: "loading", title: gettext("Loading…"), detail: "", body: nothing, act: nothing }];
    const columns = [...this.answers.map((answer, place) => this.#stored(answer, place)), ...(this.asked ? [this.#running(this.asked)] : []), ...this.waiting.map((model) => this.#next(model))];
    return columns.length < MOST && offeredModels.all.length ? [...columns, this.#choice()] : columns;
  }

  /** @param {Column} column @param {boolean} isShown */
  #column({ name, title, detail, body, act }, isShown) {
    return html`<section class="comparison-column" data-kind=${name} ?data-shown=${isShown} aria-label=${title}>
      <h3 dir="auto">${title}${detail ? html` <small>${detail}</small>` : nothing}</h3>
      <div class="comparison-text" tabindex="0" role="group" aria-label=${title}>${body}</div>
      <div class="comparison-act">${act}</div>
    </section>`;
  }

  /** @param {StoredAnswer} answer @param {number} place @returns {Column} */
  #stored(answer, place) {
    const { text, attachments, finish_reason, seconds } = answer;
    const isAlone = this.answers?.length === 1;
    return {
      name: "stored",
      title: titleOf(answer, place),
      detail: seconds === null ? "" : secondsText(seconds),
      body: html`${text ? html`<markdown-text .text=${text} .complete=${true}></markdown-text>` : html`<p class="notice">${gettext("The model returned an empty answer.")}</p>`}
        ${attachmentCards(attachments)} ${finish_reason === "stopped" ? html`<p class="notice">${gettext("The answer is incomplete.")}</p>` : nothing}`,
      act: isAlone ? nothing : html`<button type="button" class="button" ?disabled=${this.asked !== null} @click=${() => this.#pick(answer, place)}>${icon("check")}${gettext("Pick this answer")}</button>`,
    };
  }

  /** @param {OfferedModel} model @returns {Column} */
  #running({ title }) {
    const { running } = session.conversation;
    const text = running ? textOf(running) : "";
    const needsUser = running?.status === "waiting";
    return {
      name: "running",
      title,
      detail: "",
      body: html`${text ? html`<markdown-text .text=${text}></markdown-text>` : working(`${gettext("Thinking")}…`)}
        ${needsUser ? html`<p class="notice">${gettext("This answer waits for you. Close the comparison to reply.")}</p>` : nothing}`,
      act: nothing,
    };
  }

  /** @param {OfferedModel} model @returns {Column} */
  #next(model) {
    const remove = () => (this.waiting = this.waiting.filter((one) => one !== model));
    return {
      name: "waiting",
      title: model.title,
      detail: "",
      body: html`<p class="notice">${gettext("Answers after the other model.")}</p>`,
      act: html`<button type="button" class="button" @click=${remove}>${gettext("Remove")}</button>`,
    };
  }

  /** @returns {Column} */
  #choice() {
    return {
      name: "choice",
      title: gettext("Another model"),
      detail: "",
      body: html`<ul class="comparison-models">
        ${offeredModels.all.map((model) => html`<li><button type="button" class="button" dir="auto" @click=${() => this.#add(model)}>${icon("plus")}${model.title}</button></li>`)}
      </ul>`,
      act: nothing,
    };
  }

  /** @param {OfferedModel} model */
  #add(model) {
    this.failed = "";
    this.waiting = [...this.waiting, model];
    this.shown = (this.answers?.length ?? 0) + (this.asked ? 1 : 0) + this.waiting.length - 1;
    this.#ask();
    this.querySelector("h2")?.focus(); // The button may be gone.
  }

  /** Ask the next model, once the conversation is free. */
  #ask() {
    const [model, ...others] = this.waiting;
    if (!model || this.asked || session.busy) return;
    this.waiting = others;
    this.asked = model;
    session.ask("", [], { again: this.question, deployment: model.id });
  }

  #follow = () => {
    this.requestUpdate();
    if (!this.asked || session.busy) return;
    const answer = session.conversation.turns.findLast(({ role }) => role === "assistant");
    if (answer?.role !== "assistant" || isGoing(answer.status)) return;
    const { title } = this.asked;
    if (answer.status === "failed") this.failed = `${title}: ${answer.error?.text ?? gettext("The answer could not be finished.")}`;
    else announcer.say(gettext("{title} has answered.", { title }));
    void this.#ended();
  };

  async #ended() {
    this.asked = null;
    await this.#load();
    this.#ask();
  }

  /** The model may not answer, such as beyond a limit, and neither may the others. @param {Event} event */
  #refused = (event) => {
    if (!this.asked) return;
    this.failed = /** @type {CustomEvent<{text: string}>} */ (event).detail.text;
    this.waiting = [];
    void this.#ended();
  };

  #stop() {
    this.waiting = [];
    session.stop();
  }

  /** @param {StoredAnswer} answer @param {number} place */
  async #pick(answer, place) {
    const others = (this.answers ?? []).map(titleOf).filter((_, index) => index !== place);
    const isRated = await ratePicked(answer.id, others);
    if (!answer.is_shown) session.changeBranches("branch.switch", answer.id);
    announcer.say(isRated ? gettext("Picked: {title}. The choice is stored as a good rating.", { title: titleOf(answer, place) }) : gettext("Picked: {title}.", { title: titleOf(answer, place) }));
    this.#close();
  }

  #close = () => this.querySelector("dialog")?.close();

  /** A running answer continues in the conversation; the others are not asked. */
  #left() {
    this.remove();
    composer.focus();
  }
}
customElements.define("model-comparison", ModelComparison);

/** @param {StoredAnswer} answer @param {number} place */
function titleOf({ models }, place) {
  const titles = models.map((name) => offeredModels.all.find(({ id }) => id === name)?.title ?? name);
  return titles.join(", ") || gettext("Answer {number}", { number: place + 1 });
}
