/** The visible work of an answer: each stage a line that unfolds into what went in and came out. */

import { html, nothing, repeat } from "../vendor/lit.js";
import { secondsText } from "./durations.js";
import { helperButtons } from "./helper-buttons.js";
import { icon } from "./icons.js";
import { cardsAndSources, sourcesOf } from "./sources.js";
import "./step-text.js";

/** @import { Step } from "./answers.js" */

const STATES = {
  running: { symbol: "loader-circle", words: "Running" },
  done: { symbol: "check", words: "Done" },
  failed: { symbol: "x", words: "Failed" },
  stopped: { symbol: "square", words: "Stopped" },
};

/** @param {Step[]} steps @param {() => void} redraw @returns {unknown} what Lit draws */
export function stepList(steps, redraw) {
  return html`<ol class="steps" aria-label="Steps">
    ${repeat(
      steps,
      (step) => step.id,
      (step) => html`<li class="step" data-state=${step.state}>
        ${hasMore(step) ? foldedStep(step, redraw) : html`<div class="step-line">${line(step)}</div>`}
        ${helperButtons(step)}
        ${step.children.length ? stepList(step.children, redraw) : nothing}
      </li>`,
    )}
  </ol>`;
}

/** @param {Step} step */
function hasMore({ text, attachments }) {
  return text !== "" || attachments.length > 0;
}

/** @param {Step} step @param {() => void} redraw */
function foldedStep(step, redraw) {
  /** @param {Event} event */
  const unfold = (event) => {
    step.unfolded = /** @type {HTMLDetailsElement} */ (event.target).open;
    redraw();
  };
  return html`<details .open=${step.unfolded} @toggle=${unfold}>
    <summary class="step-line">${line(step)}${icon("chevron-right")}</summary>
    ${step.unfolded ? stepContent(step) : nothing}
  </details>`;
}

/** @param {Step} step */
function line({ title, state, seconds }) {
  const { symbol, words } = STATES[state];
  return html`<span class="step-mark">${icon(symbol)}</span>
    <span class="step-title" dir="auto">${title}</span>
    <span class="step-state ${state === "done" ? "visually-hidden" : ""}">${words}</span>
    ${seconds === null ? nothing : html`<span class="step-time">${secondsText(seconds)}</span>`}`;
}

/** What went in and came out. @param {Step} step @returns {unknown} what Lit draws */
export function stepContent(step) {
  return html`<div class="step-content">
    ${step.text
      ? html`<step-text .text=${step.text} .complete=${step.state !== "running"}
          .sources=${sourcesOf(step.attachments)}></step-text>`
      : nothing}
    ${cardsAndSources(step.attachments)}
  </div>`;
}
