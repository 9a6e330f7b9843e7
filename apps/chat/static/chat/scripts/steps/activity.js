/** Consecutive steps, with as much detail as the user wants to see. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { secondsText } from "../durations.js";
import { icon } from "../icons.js";
import { stepLevel, stepLevelChanges } from "./level.js";
import { THINKING } from "./steps.js";
import { gettext, ngettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */

export class StepActivity extends LitElement {
  static properties = {
    steps: { attribute: false },
    list: { attribute: false },
    past: { attribute: false },
  };

  constructor() {
    super();
    /** @type {Step[]} */
    this.steps = [];
    /** @type {unknown} a template for Lit for each step */
    this.list = nothing;
    /** True if the text of the answer has begun after them. */
    this.past = false;
    this.redraw = () => this.requestUpdate();
  }

  connectedCallback() {
    super.connectedCallback();
    stepLevelChanges.addEventListener("change", this.redraw);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    stepLevelChanges.removeEventListener("change", this.redraw);
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const level = stepLevel();
    const all = this.steps.flatMap(withInner);
    const running = all.findLast(({ state }) => state === "running");
    const failed = all.filter(({ state }) => state === "failed").length;
    const isUnfolded = level === "folded" && (!this.past || running || failed);
    if (level === "full" || (level !== "none" && (isUnfolded || all.length === 1))) return this.list;
    if (level === "none") return running || failed ? html`<div class="step activity" data-state=${running ? "running" : "failed"}><div class="step-line">${line(all, running, failed)}</div></div>` : nothing;
    return html`<details class="step activity" data-state=${running ? "running" : failed ? "failed" : "done"}>
      <summary class="step-line">${line(all, running, failed)}${icon("chevron-right")}</summary>
      ${this.list}
    </details>`;
  }
}
customElements.define("step-activity", StepActivity);

/** @param {Step[]} all @param {Step | undefined} running @param {number} failed */
function line(all, running, failed) {
  const seconds = all.reduce((sum, step) => sum + (step.seconds ?? 0), 0);
  const count = ngettext("{count} step", "{count} steps", all.length);
  return html`<span class="step-mark">${icon(running ? "loader-circle" : failed ? "x" : "check")}</span>
    <span class="step-title" dir="auto">${running ? runningTitle(running) : count}</span>
    ${running ? html`<span class="step-state">${count}</span>` : nothing}
    ${failed ? html`<span class="step-state step-failures">${ngettext("{count} failed", "{count} failed", failed)}</span>` : nothing}
    ${running ? nothing : html`<span class="step-time">${secondsText(seconds)}</span>`}`;
}

/** @param {Step} step */
function runningTitle({ title }) {
  return title === THINKING ? `${gettext("Thinking")}…` : title;
}

/** @param {Step} step @returns {Step[]} */
function withInner(step) {
  return [step, ...step.children.flatMap(withInner)];
}
