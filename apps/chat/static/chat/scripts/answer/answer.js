/** One answer: its steps and text in the order of arrival, its attachments, and its errors. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { isGoing, textOf } from "../session/answers.js";
import { leftOutNotice } from "../files/attachments.js";
import { subagentDialog } from "../steps/subagent-dialog.js";
import { icon } from "../icons.js";
import { approvedSteps, interactionsOf, isOpenCall, openInteraction } from "../session/interactions.js";
import { memoryLine } from "./memory.js";
import { cardsAndSources, sourcesOf } from "../files/sources.js";
import { stepLevel } from "../steps/level.js";
import { stepList } from "../steps/steps.js";
import "./foot.js";
import "../cards/interaction.js";
import "../markdown/markdown.js";
import "../steps/activity.js";
import { gettext } from "../texts.js";
import { working } from "./working.js";

/**
 * @import { Answer, Part } from "../session/answers.js"
 * @import { Question } from "../session/conversation.js"
 * @import { Branch } from "../session/frames.js"
 */

/** Dispatches `branch-ask` (detail: the start of the branch), and forwards the `answer` events of its cards; both bubble. */
export class ChatAnswer extends LitElement {
  static properties = {
    answer: { attribute: false },
    version: { attribute: false },
    asked: { attribute: false },
    earlier: { attribute: false },
    goesOn: { attribute: false },
    isLast: { attribute: false },
    branch: { attribute: false },
    changeable: { attribute: false },
    opened: { state: true },
  };

  constructor() {
    super();
    /** @type {Answer | undefined} */
    this.answer = undefined;
    this.version = 0;
    /** @type {Question | undefined} */
    this.asked = undefined;
    /** @type {Answer[]} that it continues */
    this.earlier = [];
    /** True if another answer continues it. */
    this.goesOn = false;
    this.isLast = false;
    /** @type {Branch | undefined} */
    this.branch = undefined;
    /** True if the conversation can be changed now. */
    this.changeable = false;
    /** The step of the open sub-agent, "" for none. */
    this.opened = "";
    this.addEventListener("subagent-open", (event) => {
      this.opened = /** @type {CustomEvent<string>} */ (event).detail;
    });
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { answer } = this;
    if (!answer) return nothing;
    const going = isGoing(answer.status);
    const approved = stepLevel() === "none" ? new Map() : approvedSteps(answer);
    return html`
      ${this.earlier.length ? nothing : html`<h2 class="visually-hidden">${gettext("Answer")}</h2>`}
      ${repeat(
        answer.parts,
        (part) => part, // Input in one card must not appear in another one.
        (part) => this.#part(answer, part, going, approved),
      )}
      ${cardsAndSources(answer.attachments, answer.annotations)}
      ${answer.continued
        ? html`<p class="notice">${icon("refresh-cw")}${gettext("This answer continued after an interruption.")}</p>`
        : nothing}
      ${going ? activity(answer) : this.#outcome(answer)} ${this.#subagent(answer)}
    `;
  }

  updated() {
    const dialog = this.querySelector("dialog.subagent");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }

  /** @param {Answer} answer */
  #subagent(answer) {
    const step = answer.steps.get(this.opened);
    if (!step) return nothing;
    return subagentDialog(step, { redraw: () => this.requestUpdate(), close: () => (this.opened = "") });
  }

  /** @param {Answer} answer @param {Part} part @param {boolean} going @param {ReturnType<typeof approvedSteps>} approved */
  #part(answer, part, going, approved) {
    if (part.kind === "steps")
      return html`<step-activity .steps=${part.steps} .past=${!going || isPast(answer, part)}
        .list=${stepList(part.steps, () => this.requestUpdate(), answer.expired, approved)}></step-activity>`;
    if (part.kind === "notice") return html`<p class="notice" dir="auto">${icon("circle-alert")}${part.text}</p>`;
    if (part.kind === "interaction" && [...approved.values()].includes(part.interaction)) return nothing;
    if (part.kind === "interaction")
      return html`<chat-interaction .interaction=${part.interaction} .version=${answer.version}
        .status=${answer.status}></chat-interaction>`;
    const complete = !going || part !== answer.parts.at(-1);
    return html`<markdown-text class="answer-text" ?data-growing=${!complete} .text=${part.text} .complete=${complete}
      .annotations=${[...answer.annotations]}
      .sources=${sourcesOf(answer.attachments)}></markdown-text>`;
  }

  /** @param {Answer} answer */
  #outcome(answer) {
    return html`${answer.status === "failed" ? this.#failure(answer) : nothing}
      ${answer.status === "stopped" ? this.#stopped(answer) : nothing}
      ${answer.status === "done" && !this.goesOn ? this.#ending(answer) : nothing}
      ${leftOutNotice(answer.message?.left_out)} ${memoryLine(answer.message?.memories)}
      ${this.goesOn
        ? nothing
        : html`<answer-foot .answer=${answer} .version=${answer.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable} .offersRetry=${this.#canRetry(answer)}></answer-foot>`}`;
  }

  /** @param {Answer} answer */
  #ending(answer) {
    if (answer.message?.finish_reason !== "length") return emptyNotice(answer);
    return html`<div class="stopped">
      <p class="notice">${icon("triangle-alert")}${gettext("The answer reached the model’s length limit.")}</p>
      ${this.isLast && this.changeable ? this.#askButton(gettext("Continue"), { continues: answer.message.id }) : nothing}
    </div>`;
  }

  /** @param {Answer} answer */
  #stopped(answer) {
    const words = textOf(answer).trim() ? gettext("The answer is incomplete.") : gettext("No answer was written.");
    return html`<div class="stopped">
      <p class="notice">${icon("circle-alert")}<span><strong>${gettext("Stopped.")}</strong> ${words}</span></p>
      ${this.#retryButton(answer)}
    </div>`;
  }

  /** @param {Answer} answer */
  #retryButton(answer) {
    return this.asked && this.#canRetry(answer) ? this.#askButton(gettext("Try again"), { again: this.asked.id }) : nothing;
  }

  /** @param {Answer} answer @returns {boolean} true if the user can try it again */
  #canRetry({ status }) {
    const isIncomplete = status === "failed" || status === "stopped";
    return isIncomplete && this.isLast && this.changeable && this.asked !== undefined && !this.asked.sending;
  }

  /** @param {string} words @param {import("../session/session.js").Branching} detail */
  #askButton(words, detail) {
    const ask = () => this.dispatchEvent(new CustomEvent("branch-ask", { bubbles: true, detail }));
    return html`<button type="button" class="button" @click=${ask}>${icon("refresh-cw")}${words}</button>`;
  }

  /** @param {Answer} answer */
  #failure(answer) {
    const { error } = answer;
    return html`<div class="failure">
      ${icon("triangle-alert")}
      <div>
        <p>${error?.text ?? gettext("The answer could not be finished.")}</p>
        ${error?.reference
          ? html`<p class="failure-reference">${gettext("Reference:")} <code>${error.reference}</code></p>`
          : nothing}
        ${this.#retryButton(answer)}
      </div>
    </div>`;
  }
}
customElements.define("chat-answer", ChatAnswer);

/** @param {Answer} answer */
function emptyNotice(answer) {
  const isEmpty = answer.message && !textOf(answer).trim() && !answer.attachments.length && !answer.message.left_out?.length;
  return isEmpty ? html`<p class="notice">${gettext("The model returned an empty answer.")}</p>` : nothing;
}

/** @param {Answer} answer @param {Part} part @returns {boolean} true if words follow it */
function isPast({ parts }, part) {
  return parts.slice(parts.indexOf(part) + 1).some(({ kind }) => kind === "text");
}

/** The activity indicator, unless activity is visible already: a running step, arriving text, or a card for the user. @param {Answer} answer */
function activity(answer) {
  if (answer.status === "waiting" && openInteraction(answer)) return nothing;
  const last = answer.parts.at(-1);
  const isRunning = [...answer.steps.values()].some(({ state }) => state === "running");
  const isSeen = answer.status === "running" && (last?.kind === "text" || (last?.kind === "steps" && isRunning));
  return isSeen ? nothing : working(`${wordsFor(answer)}…`);
}

/** @param {Answer} answer */
function wordsFor(answer) {
  if (answer.status === "queued") return gettext("Queued");
  if (answer.status === "waiting") {
    return interactionsOf(answer).some(isOpenCall) ? gettext("Working on the page") : gettext("Waiting for another user");
  }
  return answer.parts.length ? gettext("Working") : gettext("Thinking");
}
