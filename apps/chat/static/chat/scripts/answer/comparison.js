/** Answers of different models to one question, side by side. They are branches of the conversation, which writes one answer at a time. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { get } from "../requests.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";
import { ratePicked } from "./picked-answer.js";

/**
 * @import { Answer } from "../session/answers.js"
 * @import { Announcer } from "../notices/announcer.js"
 * @import { Attachment } from "../session/frames.js"
 * @import { OfferedModel } from "../session/offered-models.js"
 * @import { Session } from "../session/session.js"
 * @import { Note } from "./picked-answer.js"
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
 * The page's functions come with the question, so that its first load does not need more files.
 * @typedef {object} ComparedQuestion
 * @property {string} id
 * @property {Session} session
 * @property {string} base the URL of the application
 * @property {OfferedModel[]} models that can answer
 * @property {Announcer} announcer
 * @property {Note} note shows the rating
 * @property {(answer: Answer) => string} textOf
 * @property {(attachments: Attachment[]) => unknown} cards what Lit draws
 * @property {(seconds: number) => string} secondsText
 * @property {() => void} leave moves the focus after the comparison
 *
 * @typedef {{name: string, title: string, detail: string, body: unknown, act: unknown}} Column
 */

const MOST = 3;
const styles = new URL("../../styles/comparison.css", import.meta.url).href;

/** @param {ComparedQuestion} question */
export async function compare(question) {
  await loadStyles(styles);
  document.body.append(new ModelComparison(question));
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

  #question;
  /** True while the answers are loaded after a model has answered. Until then, its column stays. */
  #isEnding = false;

  /** @param {ComparedQuestion} question */
  constructor(question) {
    super();
    this.#question = question;
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
    this.#session.addEventListener("change", this.#follow);
    this.#session.addEventListener("refused", this.#refused);
    this.#session.addEventListener("switched", this.#close);
    void this.#load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#session.removeEventListener("change", this.#follow);
    this.#session.removeEventListener("refused", this.#refused);
    this.#session.removeEventListener("switched", this.#close);
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  async #load() {
    const { id, base } = this.#question;
    const told = await get(`${base}${this.#session.conversation.id}/answers/?message=${id}`);
    this.problem = told ? "" : gettext("The answers could not be loaded. Check your connection and try again.");
    this.answers = told?.answers ?? this.answers ?? [];
  }

  render() {
    const columns = this.#columns();
    const shown = Math.min(this.shown, columns.length - 1);
    return html`<dialog class="comparison" aria-labelledby="comparison-heading" @close=${this.#left}>
      <div class="comparison-head">
        <div>
          <h2 id="comparison-heading" tabindex="-1" autofocus>${gettext("Compare models")}</h2>
          <p dir="auto">${this.#questionText}</p>
        </div>
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
    const others = this.#others;
    return columns.length < MOST && others.length ? [...columns, this.#choice(others)] : columns;
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
      title: this.#titleOf(answer, place),
      detail: seconds === null ? "" : this.#question.secondsText(seconds),
      body: html`${text ? html`<markdown-text .text=${text} .complete=${true}></markdown-text>` : html`<p class="notice">${gettext("The model returned an empty answer.")}</p>`}
        ${this.#question.cards(attachments)} ${finish_reason === "stopped" ? html`<p class="notice">${gettext("The answer is incomplete.")}</p>` : nothing}`,
      act: isAlone ? nothing : html`<button type="button" class="button" ?disabled=${this.asked !== null} @click=${() => this.#pick(answer, place)}>${icon("check")}${gettext("Pick this answer")}</button>`,
    };
  }

  /** @param {OfferedModel} model @returns {Column} */
  #running({ title }) {
    const answer = this.#session.conversation.running ?? (this.#isEnding ? this.#newest : null);
    const text = answer ? this.#question.textOf(answer) : "";
    const needsUser = answer?.status === "waiting";
    return {
      name: "running",
      title,
      detail: "",
      body: html`${text ? html`<markdown-text .text=${text}></markdown-text>` : html`<p class="working"><span class="dots" aria-hidden="true"></span>${gettext("Thinking")}…</p>`}
        ${needsUser ? html`<p class="notice">${gettext("This answer is waiting for you. Close the comparison to reply.")}</p>` : nothing}`,
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
      body: html`<p class="notice">${gettext("This model answers after the other model has finished.")}</p>`,
      act: html`<button type="button" class="button" @click=${remove}>${gettext("Remove")}</button>`,
    };
  }

  /** The models that have no answer here yet. A stored answer has the titles of its models, or their IDs. */
  get #others() {
    const shown = new Set([...(this.answers ?? []).flatMap(({ models }) => models), ...[this.asked, ...this.waiting].map((model) => model?.id)]);
    return this.#question.models.filter(({ id, title }) => !shown.has(id) && !shown.has(title));
  }

  /** @param {OfferedModel[]} models @returns {Column} */
  #choice(models) {
    return {
      name: "choice",
      title: gettext("Another model"),
      detail: "",
      body: html`<ul class="comparison-models">
        ${models.map((model) => html`<li><button type="button" class="button" dir="auto" @click=${() => this.#add(model)}>${icon("plus")}${model.title}</button></li>`)}
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
    if (!model || this.asked || this.#session.busy) return;
    this.waiting = others;
    this.asked = model;
    this.#session.ask("", [], { again: this.#question.id, deployment: model.id });
  }

  #follow = () => {
    this.requestUpdate();
    if (!this.asked) return this.#ask(); // A model may wait for another answer of the conversation.
    if (this.#isEnding || this.#session.busy || this.#session.conversation.running) return;
    const answer = this.#newest;
    if (!answer) return;
    const { title } = this.asked;
    if (answer.status === "failed") this.failed = `${title}: ${answer.error?.text ?? gettext("The answer could not be finished.")}`;
    else this.#question.announcer.say(gettext("{title} has answered.", { title }));
    void this.#ended();
  };

  async #ended() {
    this.#isEnding = true;
    await this.#load();
    this.#isEnding = false;
    this.asked = null;
    this.#ask();
  }

  /** The answer to the question in the conversation. There is none while the conversation loads another branch. @returns {Answer | null} */
  get #newest() {
    const { turns } = this.#session.conversation;
    const at = turns.findIndex(({ id }) => id === this.#question.id);
    const answer = at < 0 ? undefined : turns[at + 1];
    return answer?.role === "assistant" ? answer : null;
  }

  /** The model may not answer, such as beyond a limit, and neither may the others. @param {Event} event */
  #refused = (event) => {
    if (!this.asked || this.#isEnding) return;
    this.failed = /** @type {CustomEvent<{text: string}>} */ (event).detail.text;
    this.waiting = [];
    void this.#ended();
  };

  #stop() {
    this.waiting = [];
    this.#session.stop();
  }

  /** @param {StoredAnswer} answer @param {number} place */
  async #pick(answer, place) {
    const others = (this.answers ?? []).map((one, index) => this.#titleOf(one, index)).filter((_, index) => index !== place);
    const isRated = await ratePicked(answer.id, others, this.#question.note);
    if (!answer.is_shown) this.#session.changeBranches("branch.switch", answer.id);
    this.#question.announcer.say(isRated ? gettext("Picked: {title}. The choice is stored as a good rating.", { title: this.#titleOf(answer, place) }) : gettext("Picked: {title}.", { title: this.#titleOf(answer, place) }));
    this.#close();
  }

  /** The models of an answer. Answers of the same models are numbered. @param {StoredAnswer} answer @param {number} place */
  #titleOf(answer, place) {
    const models = this.#modelsOf(answer);
    const isAlone = models && (this.answers ?? []).filter((one) => this.#modelsOf(one) === models).length < 2;
    return isAlone ? models : [models, gettext("Answer {number}", { number: place + 1 })].filter(Boolean).join(" · ");
  }

  /** @param {StoredAnswer} answer */
  #modelsOf({ models }) {
    return models.map((name) => this.#question.models.find(({ id }) => id === name)?.title ?? name).join(", ");
  }

  /** The text of the question. */
  get #questionText() {
    const turn = this.#session.conversation.turns.find(({ id }) => id === this.#question.id);
    return turn?.role === "user" ? turn.text : "";
  }

  get #session() {
    return this.#question.session;
  }

  #close = () => this.querySelector("dialog")?.close();

  /** A running answer continues in the conversation; the others are not asked. */
  #left() {
    this.remove();
    this.#question.leave();
  }
}
customElements.define("model-comparison", ModelComparison);
