/** One sub-agent of an answer: its task, its steps and its text. */

import { html, nothing } from "../../vendor/lit.js";
import { stopButton } from "./subagent-buttons.js";
import { stepContent, stepList } from "./steps.js";
import { gettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */

const WORDS = { running: gettext("Working"), done: gettext("Done"), failed: gettext("Failed"), stopped: gettext("Stopped") };

/**
 * @param {Step} step of the call that started the sub-agent
 * @param {{redraw: () => void, close: () => void}} acts
 * @returns {unknown} a template for Lit
 */
export function subagentDialog(step, { redraw, close }) {
  const { subagent } = step;
  if (!subagent) return nothing;
  return html`<dialog class="subagent" aria-labelledby="subagent-name" @close=${close}>
    <header>
      <h2 id="subagent-name" tabindex="-1">${subagent.name}</h2>
      <p class="subagent-line" role="status">
        ${[subagent.agent, WORDS[subagent.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="subagent-read" tabindex="0" role="group" aria-label=${gettext("Sub-agent activity")}>
      ${stepContent(step)} ${step.children.length ? stepList(step.children, redraw) : nothing}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${stopButton(step)}
      <button class="button" autofocus>${gettext("Close")}</button>
    </form>
  </dialog>`;
}
