/** The visible work of an answer: each stage is a line that expands to its input and output. */

import { html, nothing, repeat } from "../../vendor/lit.js";
import { secondsText } from "../durations.js";
import { subagentButtons } from "./subagent-buttons.js";
import { icon } from "../icons.js";
import { outcomeText } from "../cards/interaction.js";
import { cardsAndSources, sourcesOf } from "../files/sources.js";
import { causeOf } from "./sections.js";
import "./text.js";
import { gettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */
/** @import { Interaction } from "../session/interactions.js" */

const STATES = {
  running: { symbol: "loader-circle", words: gettext("Running") },
  done: { symbol: "check", words: gettext("Done") },
  failed: { symbol: "x", words: gettext("Failed") },
  stopped: { symbol: "square", words: gettext("Stopped") },
};

/** The title of a reasoning step, as the server sends it. */
export const THINKING = "Thinking";
/** In seconds. A shorter thought has no time. */
const SHORTEST_THOUGHT = 1;
const LONGEST_THOUGHT = 200;
const EXPIRED = gettext("The model no longer reads this result, but it remains stored and visible.");

/**
 * @param {Step[]} steps @param {() => void} redraw
 * @param {Set<string>} [expired] the IDs of steps that the model no longer reads
 * @param {Map<string, Interaction>} [approved] by the IDs of steps
 * @returns {unknown} a template for Lit
 */
export function stepList(steps, redraw, expired = new Set(), approved = new Map()) {
  return html`<ol class="steps" aria-label=${gettext("Steps")}>
    ${repeat(
      steps,
      (step) => step.id,
      (step) => stepItem(step, redraw, expired, approved),
    )}
  </ol>`;
}

/** @param {Step} step @param {() => void} redraw @param {Set<string>} expired @param {Map<string, Interaction>} approved */
function stepItem(step, redraw, expired, approved) {
  const isExpired = expired.has(step.id);
  const words = line(step, isExpired, approved.get(step.id));
  return html`<li class="step ${isExpired ? "expired" : ""}" data-state=${step.state}
    title=${isExpired ? EXPIRED : nothing}>
    ${hasMore(step) ? foldedStep(step, words, redraw) : html`<div class="step-line">${words}</div>`}
    ${step.state === "failed" && !step.unfolded ? cause(step) : nothing} ${subagentButtons(step)}
    ${step.children.length ? stepList(step.children, redraw, expired, approved) : nothing}
  </li>`;
}

/** @param {Step} step */
function hasMore({ text, attachments }) {
  return text !== "" || attachments.length > 0;
}

/** @param {Step} step @param {unknown} words @param {() => void} redraw */
function foldedStep(step, words, redraw) {
  /** @param {Event} event */
  const unfold = (event) => {
    step.unfolded = /** @type {HTMLDetailsElement} */ (event.target).open;
    redraw();
  };
  return html`<details .open=${step.unfolded} @toggle=${unfold}>
    <summary class="step-line">${words}${icon("chevron-right")}</summary>
    ${step.unfolded ? stepContent(step) : nothing}
  </details>`;
}

/** @param {Step} step @param {boolean} isExpired @param {Interaction | undefined} approval */
function line({ title, state, seconds, text }, isExpired, approval) {
  const { symbol, words } = STATES[state];
  if (title === THINKING && state === "running") return thinking(text);
  if (title === THINKING && state === "done") return html`<span class="step-mark">${icon("brain")}</span> <span class="step-title">${thoughtText(seconds)}</span>`;
  return html`<span class="step-mark">${icon(symbol)}</span>
    <span class="step-title" dir="auto">${title === THINKING ? gettext("Thoughts") : title}</span>
    ${approval ? html`<span class="step-decision">${outcomeText(approval)}</span>` : nothing}
    <span class="step-state ${state === "done" ? "visually-hidden" : ""}">${words}</span>
    ${isExpired ? html`<span class="visually-hidden">${gettext("(no longer read by the model)")}</span>` : nothing}
    ${seconds === null ? nothing : html`<span class="step-time">${secondsText(seconds)}</span>`}`;
}

/** @param {number | null} seconds */
function thoughtText(seconds) {
  if (seconds === null) return gettext("Thoughts");
  if (seconds < SHORTEST_THOUGHT) return gettext("Thought for a moment");
  return gettext("Thought for {time}", { time: secondsText(seconds) });
}

/** @param {string} text thought so far @returns {unknown} a template for Lit */
function thinking(text) {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return html`<span class="step-mark">${icon("brain")}</span>
    <span class="step-title">${gettext("Thinking")}…</span>
    <span class="step-thought" dir="auto">${last.slice(-LONGEST_THOUGHT)}</span>`;
}

/** The reason for a failure, visible without expanding. @param {Step} step */
function cause({ text }) {
  const words = causeOf(text);
  return words ? html`<p class="step-cause" dir="auto">${words}</p>` : nothing;
}

/** The input and output. @param {Step} step @returns {unknown} a template for Lit */
export function stepContent(step) {
  return html`<div class="step-content">
    ${step.text
      ? html`<step-text .text=${step.text} .complete=${step.state !== "running"}
          .sources=${sourcesOf(step.attachments)}></step-text>`
      : nothing}
    ${step.length > step.text.length ? restButton(step) : nothing}
    ${cardsAndSources(step.attachments)}
  </div>`;
}

/** @param {Step} step whose text is incomplete */
function restButton({ id, text, length }) {
  /** @param {Event} event */
  const ask = ({ target }) =>
    /** @type {HTMLElement} */ (target).dispatchEvent(new CustomEvent("step-rest", { bubbles: true, detail: id }));
  const words = gettext("Show all {length} characters (the first {shown} are shown)", { length, shown: text.length });
  return html`<button type="button" class="link step-rest" @click=${ask}>${words}</button>`;
}
