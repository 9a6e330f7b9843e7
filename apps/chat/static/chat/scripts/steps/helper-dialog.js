/** One sub-agent of an answer: its task, its steps and its text. */

import { html, nothing } from "../../vendor/lit.js";
import { stopButton } from "./helper-buttons.js";
import { stepContent, stepList } from "./steps.js";
import { gettext } from "../texts.js";

/** @import { Step } from "../session/answers.js" */

const WORDS = { running: gettext("Working"), done: gettext("Done"), failed: gettext("Failed"), stopped: gettext("Stopped") };

/**
 * @param {Step} step of the call that started the sub-agent
 * @param {{redraw: () => void, close: () => void}} acts
 * @returns {unknown} a template for Lit
 */
export function helperDialog(step, { redraw, close }) {
  const { helper } = step;
  if (!helper) return nothing;
  return html`<dialog class="helper" aria-labelledby="helper-name" @close=${close}>
    <header>
      <h2 id="helper-name" tabindex="-1">${helper.name}</h2>
      <p class="helper-line" role="status">
        ${[helper.agent, WORDS[helper.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="helper-read" tabindex="0" role="group" aria-label=${gettext("Sub-agent activity")}>
      ${stepContent(step)} ${step.children.length ? stepList(step.children, redraw) : nothing}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${stopButton(step)}
      <button class="button" autofocus>${gettext("Close")}</button>
    </form>
  </dialog>`;
}
