/** The fill level of the context window, and the summary of the conversation's beginning. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { afterPainting } from "../painting.js";
import { placeBeside } from "../placing.js";
import { get } from "../requests.js";
import { gettext, locale, ngettext } from "../texts.js";

/**
 * @import { ChatLog } from "./log.js"
 * @import { Session } from "../session/session.js"
 *
 * @typedef {{text: string, after: string | null}} Summary `after` is the run of the last answer in it
 * @typedef {object} ContextUse in tokens
 * @property {number} system
 * @property {number} tools
 * @property {number} user
 * @property {number} assistant
 * @property {number} tool_results
 * @property {number} total
 * @property {number | null} limit
 * @property {number | null} ratio of the total to the limit
 * @property {"unknown" | "ok" | "warning" | "danger"} state
 * @property {Summary | null} summary
 * @property {import("../answer/figures.js").Sum} sum of all answers
 */

/** @type {[keyof ContextUse, string][]} */
const PARTS = [
  ["system", gettext("Instructions")],
  ["tools", gettext("Tools")],
  ["user", gettext("Questions")],
  ["assistant", gettext("Answers")],
  ["tool_results", gettext("Tool results")],
];
const STATES = { unknown: "", ok: "", warning: gettext("nearly full"), danger: gettext("full") };
/** The share from which a summary may be written after an answer. */
const SUMMARIES_FROM = 0.3;

export class ChatGauge extends LitElement {
  static properties = { use: { attribute: false } };

  constructor() {
    super();
    /** @type {ContextUse | null} */
    this.use = null;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const { use } = this;
    if (!use?.total) return nothing;
    return html`<div class="gauge" data-state=${use.state}>
      <button type="button" class="quiet" popovertarget="gauge-parts">${this.#heading(use)}</button>
      <div id="gauge-parts" class="menu-popover gauge-parts" role="group" aria-label=${gettext("Context")} popover @toggle=${this.#toggled}>
        <dl>
          ${PARTS.map(([name, words]) => html`<div><dt>${words}</dt><dd>${tokens(use[name])}</dd></div>`)}
          <div class="gauge-total"><dt>${gettext("Total")}</dt><dd>${tokens(use.total)}</dd></div>
          ${use.limit ? html`<div><dt>${gettext("Context window")}</dt><dd>${tokens(use.limit)}</dd></div>` : nothing}
        </dl>
        <p>${gettext("Token counts are estimates. If a conversation becomes too long, it is shortened for the model, but you can still read all of it.")}</p>
      </div>
    </div>`;
  }

  /** Above the message box, which the user may want to read. @param {ToggleEvent} event */
  #toggled({ newState, target }) {
    const [parts, button] = [/** @type {HTMLElement} */ (target), this.querySelector("button")];
    if (newState === "open" && button) placeBeside(parts, button, this.closest(".dock")?.querySelector("chat-composer") ?? button);
  }

  /** @param {ContextUse} use */
  #heading({ ratio, total, state }) {
    if (ratio === null) return html`<span>${ngettext("Context: {count} token", "Context: {count} tokens", Number(total))}</span>`;
    const percent = `${Math.round(ratio * 100)}\u00a0%`;
    const words = STATES[state] && `, ${STATES[state]}`;
    return html`<meter min="0" max="1" .value=${ratio} aria-hidden="true"></meter>
      ${state === "ok" ? nothing : icon("triangle-alert")}
      <span>${gettext("Context: {percent}", { percent })}${words}</span>`;
  }
}
customElements.define("chat-gauge", ChatGauge);

/** @param {unknown} count */
function tokens(count) {
  return Number(count).toLocaleString(locale);
}

/**
 * Shows the server's numbers, and updates them after each answer.
 * @param {ChatGauge} gauge @param {ChatLog} log @param {Session} session
 * @param {() => string} base the URL of the application
 */
export function offerGauge(gauge, log, session, base) {
  const refresh = async () => {
    const { id } = session.conversation;
    const use = id ? await get(`${base()}${id}/usage/`) : null;
    if (!use || id !== session.conversation.id) return;
    gauge.use = use;
    log.summary = use.summary;
    session.redraw();
  };
  session.addEventListener("switched", () => {
    gauge.use = null;
    log.summary = null;
  });
  session.addEventListener("opened", (event) => {
    // A new conversation has no answer yet.
    if (!(/** @type {CustomEvent} */ (event).detail.isNew)) afterPainting(() => void refresh());
  });
  session.addEventListener("event", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.type === "message.complete") void refresh();
  });
  session.addEventListener("listed", () => {
    if ((gauge.use?.ratio ?? 0) >= SUMMARIES_FROM) void refresh();
  });
}

/** @param {Summary} summary @returns {unknown} a template for Lit */
export function summaryBlock({ text }) {
  return html`<details class="summary-block">
    <summary>${icon("chevron-right")}${gettext("Earlier conversation, summarized for the model")}</summary>
    <p class="summary-text" dir="auto">${text}</p>
    <p class="summary-note">${gettext("The model reads this summary instead of everything above.")}</p>
  </details>`;
}
