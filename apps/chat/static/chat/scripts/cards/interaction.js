/** A card that asks the user something, and the line that remains after the decision. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { approvalCard } from "./approval.js";
import { momentText, secondsText } from "../durations.js";
import { elicitationCard } from "./elicitation.js";
import { icon } from "../icons.js";
import { isOpen } from "../session/interactions.js";
import { questionCard } from "./question.js";
import { signInCard } from "./sign-in.js";
import { gettext } from "../texts.js";

/** @import { InteractionAnswer, RunStatus } from "../session/frames.js" */
/** @import { Interaction } from "../session/interactions.js" */

const SECOND = 1_000;
let count = 0;

/** Dispatches `answer`, which bubbles, with `{key, kind, answer}` as its detail. */
export class ChatInteraction extends LitElement {
  static properties = {
    interaction: { attribute: false },
    version: { attribute: false },
    status: { attribute: false },
    problem: { state: true },
  };

  #id = `interaction-${++count}`;
  #timer = 0;

  constructor() {
    super();
    /** @type {Interaction | undefined} */
    this.interaction = undefined;
    this.version = 0;
    /** @type {RunStatus} */
    this.status = "waiting";
    this.problem = "";
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.#timer = setInterval(() => this.#isAsked && this.requestUpdate(), SECOND);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  get #isAsked() {
    return this.interaction !== undefined && !this.interaction.resolved && !isOver(this.status);
  }

  /** Focus the card, not one of its buttons, so that a key that is being typed decides nothing. */
  focus() {
    const card = this.querySelector("section");
    card?.scrollIntoView({ block: "nearest" });
    card?.focus({ preventScroll: true });
  }

  render() {
    const { interaction } = this;
    if (!interaction) return nothing;
    if (interaction.kind === "client_tool") return this.#isAsked ? callLine(interaction) : nothing;
    if (!this.#isAsked) return outcomeLine(interaction);
    const { asked, due } = interaction;
    return html`<section class="interaction" tabindex="-1" aria-labelledby="${this.#id}-title" @keydown=${leaveByKey}>
      <div class="interaction-head">
        <h3 id="${this.#id}-title" dir="auto">${headingOf(asked)}</h3>
        ${due === null ? nothing : html`<span class="time-left" role="timer" aria-live="off">${timeLeft(due)}</span>`}
      </div>
      ${this.#card(interaction)}
    </section>`;
  }

  /** @param {Interaction} interaction */
  #card(interaction) {
    const canAnswer = isOpen(interaction, this.status) && !interaction.sending;
    const send = (/** @type {InteractionAnswer | null} */ answer) => this.#send(interaction, answer);
    if (interaction.kind === "approval") return approvalCard(interaction, this.#id, canAnswer, send);
    if (interaction.kind === "question")
      return questionCard(interaction, this.#id, canAnswer, this.problem, send);
    if (interaction.kind === "elicitation") return elicitationCard(interaction, this.#id, canAnswer, send);
    if (interaction.kind === "sign_in") return signInCard(interaction, canAnswer, send);
    return html`<p class="hint">${gettext("This request can’t be answered on this page.")}</p>`;
  }

  /** @param {Interaction} interaction @param {InteractionAnswer | null} answer */
  #send({ key, kind }, answer) {
    this.problem = answer ? "" : gettext("Choose or enter an answer, or skip the question.");
    if (answer) this.dispatchEvent(new CustomEvent("answer", { bubbles: true, detail: { key, kind, answer } }));
  }
}
customElements.define("chat-interaction", ChatInteraction);

/** Escape leaves the card without a decision; elsewhere, it stops the answer. @param {KeyboardEvent} event */
function leaveByKey(event) {
  if (event.key !== "Escape" || event.isComposing) return;
  event.preventDefault();
  document.getElementById("question")?.focus();
}

/** @param {Record<string, any>} asked */
export function headingOf(asked) {
  return asked.title || asked.question || asked.name || gettext("Your input is needed");
}

/** @param {RunStatus} status */
function isOver(status) {
  return status === "done" || status === "failed" || status === "stopped";
}

/** @param {number} due */
function timeLeft(due) {
  const seconds = Math.ceil(due - Date.now() / SECOND);
  if (seconds <= 0) return gettext("Timed out");
  const time = seconds < 10 ? gettext("{seconds} s", { seconds }) : secondsText(seconds);
  return gettext("{time} left", { time });
}

/** A call that a page executes; its step shows the result. @param {Interaction} interaction */
function callLine({ asked, isHere }) {
  return html`<p class="decision">
    ${icon("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${headingOf(asked)}</span>
      <span>${isHere ? gettext("Running on this page") : gettext("Running on the page where you sent the message")}</span>
    </span>
  </p>`;
}

/** @param {Interaction} interaction */
function outcomeLine(interaction) {
  const { resolved } = interaction;
  const isYes = ["approved", "answered", "accepted", "connected"].includes(resolved?.answer.outcome ?? "");
  return html`<p class="decision" data-outcome=${isYes ? "yes" : "no"}>
    ${icon(isYes ? "check" : "x")}
    <span>
      <span class="decision-title" dir="auto">${headingOf(interaction.asked)}</span>
      <span>${outcomeText(interaction)}</span>
      ${resolved?.answer.always ? html`<a href="/approvals/">${gettext("Start asking again…")}</a>` : nothing}
    </span>
  </p>`;
}

/** @param {Pick<Interaction, "kind" | "resolved"> & {asked?: Interaction["asked"]}} interaction @returns {string} the decision, its author and its time */
export function outcomeText({ kind, resolved, asked }) {
  if (!resolved) return gettext("Not decided: the answer ended first.");
  const { answer, by, at } = resolved;
  const moment = momentText(new Date(at * SECOND).toISOString());
  const signed = { name: by || gettext("an unknown user"), moment };
  const changed = Object.keys(answer.arguments ?? {}).map((name) => asked?.labels?.[name] ?? name);
  switch (answer.outcome) {
    case "approved":
      return changed.length
        ? gettext("Approved by {name}, {moment}, with changes to {names}.", { ...signed, names: changed.join(", ") })
        : gettext("Approved by {name}, {moment}.", signed);
    case "denied":
      return answer.reason
        ? gettext("Denied by {name}, {moment}: {reason}", { ...signed, reason: answer.reason })
        : gettext("Denied by {name}, {moment}.", signed);
    case "answered":
      return gettext("Answered by {name}, {moment}: {answer}", {
        ...signed,
        answer: [...(answer.choices ?? []), answer.text].filter(Boolean).join(", "),
      });
    case "accepted":
      return gettext("Answered by {name}, {moment}.", signed);
    case "declined":
      return gettext("Declined by {name}, {moment}.", signed);
    case "cancelled":
      return gettext("Canceled by {name}, {moment}.", signed);
    case "lost":
      return gettext("Not answered: the call ended first.");
    case "connected":
      return gettext("Connected by {name}, {moment}.", signed);
    case "skipped":
      return gettext("Skipped by {name}, {moment}.", signed);
    default:
      return kind === "approval"
        ? gettext("Nobody decided in time, so the call was denied ({moment}).", { moment })
        : gettext("Nobody answered in time ({moment}).", { moment });
  }
}
