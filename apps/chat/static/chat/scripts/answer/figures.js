/** The metrics and cost of an answer, and of all answers of a conversation. Unknown values are omitted. */

import { html, nothing } from "../../vendor/lit.js";
import { secondsText } from "../durations.js";
import { icon } from "../icons.js";
import { gettext, locale, ngettext } from "../texts.js";

/**
 * @import { Answer } from "../session/answers.js"
 * @import { Question } from "../session/conversation.js"
 * @import { StoredMessage, Usage } from "../session/frames.js"
 *
 * @typedef {Record<string, string | number>} Costs decimals by currency
 */

/**
 * The details of an answer: its metrics, its steps with their durations, the files it read, and what the model saw.
 * @param {Answer} answer @returns {unknown} a template for Lit
 */
export function figureLine(answer) {
  const { message, id } = answer;
  if (!message) return nothing;
  const rows = [...rowsOf(message), ...stepRows(answer), ...readRows(answer)];
  const isKept = document.getElementById("main")?.dataset.requests;
  if (!rows.length && !isKept) return nothing;
  return html`<details class="more-line figures">
    <summary>${icon("chevron-right")}<span class="visually-hidden">${gettext("Details:")}</span>${shortText(message)}</summary>
    <dl>
      ${rows.map(([name, text]) => html`<div><dt dir="auto">${name}</dt><dd dir="auto">${text}</dd></div>`)}
    </dl>
    ${isKept
      ? html`<a href="/answers/${id}/requests/" target="_blank" rel="noopener"
          >${gettext("What the model saw")}<span class="visually-hidden"> ${gettext("(opens in a new tab)")}</span></a
        >`
      : nothing}
  </details>`;
}

/** @param {Record<string, number>} values @returns {string} */
const CACHED = (values) => gettext("{whole} ({some} from the cache)", values);
/** @param {Record<string, number>} values @returns {string} */
const THINKING = (values) => gettext("{whole} ({some} for thinking)", values);

/** The duration of each step. @param {Answer} answer @returns {[string, string][]} */
function stepRows({ steps }) {
  return [...steps.values()].flatMap(({ title, seconds }) => {
    /** @type {[string, string]} */
    const row = [title.replaceAll("`", ""), seconds === null ? "" : secondsText(seconds)];
    return row[1] ? [row] : [];
  });
}

/** @param {Answer} answer @returns {[string, string][]} */
function readRows({ message, attachments }) {
  const recalled = (message?.memories ?? []).filter(({ action }) => action === "recalled");
  const sources = attachments.filter(({ reference_url }) => reference_url);
  /** @type {[string, string][]} */
  const rows = [
    [gettext("Files read"), (message?.files_read ?? []).join("; ")],
    [gettext("From memory"), recalled.map(({ text }) => text).join("; ")],
    [gettext("Sources"), [...new Set(sources.map(({ title, reference_url }) => title || reference_url))].join("; ")],
  ];
  return rows.filter(([, text]) => text);
}

/** @param {StoredMessage} message */
function shortText({ seconds, usage, costs, models }) {
  const tokens = tokensOf(usage);
  const parts = [
    seconds === undefined ? "" : secondsText(seconds),
    tokens ? ngettext("{count} token", "{count} tokens", tokens) : "",
    costs ? costsText(costs) : "",
  ].filter(Boolean);
  return parts.join(" · ") || models?.join(", ") || gettext("Details");
}

/** @param {StoredMessage} message @returns {[string, string][]} */
function rowsOf({ models, version, usage, costs, first_text_seconds, seconds }) {
  /** @type {[string, string | number | undefined][]} */
  const rows = [
    [models?.length === 1 ? gettext("Model") : gettext("Models"), models?.join(", ")],
    [gettext("App version"), version],
    [gettext("Input tokens"), usage && part(usage.prompt_tokens, usage.cached_tokens, CACHED)],
    [gettext("Output tokens"), usage && part(usage.completion_tokens, usage.reasoning_tokens, THINKING)],
    [gettext("Cost"), costs && costsText(costs)],
    [gettext("Time to first token"), first_text_seconds === undefined ? "" : secondsText(first_text_seconds)],
    [gettext("Duration"), seconds === undefined ? "" : secondsText(seconds)],
  ];
  return rows.filter(([, text]) => text).map(([name, text]) => [name, String(text)]);
}

/** @param {number} whole @param {number | undefined} some @param {(values: Record<string, number>) => string} words */
function part(whole, some, words) {
  if (!whole) return "";
  return some ? words({ whole, some }) : whole.toLocaleString(locale);
}

/** @param {Usage | undefined} usage */
function tokensOf(usage) {
  return usage ? usage.prompt_tokens + usage.completion_tokens : 0;
}

/** @param {Costs} costs */
function costsText(costs) {
  return Object.entries(costs)
    .map(([currency, cost]) => moneyText(Number(cost), currency))
    .join(" + ");
}

/** @param {number} amount @param {string} currency */
function moneyText(amount, currency) {
  const digits = amount === 0 || amount >= 1 ? {} : { minimumSignificantDigits: 2, maximumSignificantDigits: 2 };
  return amount.toLocaleString(locale, { style: "currency", currency, ...digits });
}

/**
 * The sum of the answers' metrics.
 * @typedef {{tokens: number, costs: Costs, is_partial: boolean}} Sum `is_partial`: not every cost is known
 *
 * @param {(Question | Answer)[]} turns @returns {Sum}
 */
export function sumOf(turns) {
  const messages = turns.flatMap((turn) => (turn.role === "assistant" && turn.message ? [turn.message] : []));
  const tokens = messages.reduce((sum, { usage }) => sum + tokensOf(usage), 0);
  /** @type {Record<string, number>} */
  const costs = {};
  for (const message of messages) {
    for (const [currency, cost] of Object.entries(message.costs ?? {}))
      costs[currency] = (costs[currency] ?? 0) + Number(cost);
  }
  return { tokens, costs, is_partial: messages.some((message) => !message.costs && tokensOf(message.usage)) };
}

/** Returns, for example, "1,200 tokens · at least $0.02" if the cost of an answer is unknown. @param {Sum} sum */
export function sumText({ tokens, costs, is_partial }) {
  const cost = costsText(costs);
  return [tokens ? ngettext("{count} token", "{count} tokens", tokens) : "", cost && is_partial ? gettext("at least {cost}", { cost }) : cost]
    .filter(Boolean)
    .join(" · ");
}
