/** What an answer took and cost, and all answers of a conversation; what is not told is left out. */

import { html, nothing } from "../vendor/lit.js";
import { secondsText } from "./durations.js";
import { icon } from "./icons.js";
import { gettext } from "./texts.js";

/**
 * @import { Answer } from "./answers.js"
 * @import { Question } from "./conversation.js"
 * @import { StoredMessage, Usage } from "./frames.js"
 *
 * @typedef {Record<string, string | number>} Costs decimals by currency
 */

/**
 * How the answer came about: its figures, its steps with their times, what was read, what the model saw.
 * @param {Answer} answer @returns {unknown} what Lit draws
 */
export function figureLine(answer) {
  const { message, id } = answer;
  if (!message) return nothing;
  const rows = [...rowsOf(message), ...stepRows(answer), ...readRows(answer)];
  const isKept = document.getElementById("main")?.dataset.requests;
  if (!rows.length && !isKept) return nothing;
  return html`<details class="more-line figures">
    <summary>${icon("chevron-right")}<span class="visually-hidden">${gettext("Why this answer:")}</span>${shortText(message)}</summary>
    <dl>
      ${rows.map(([name, text]) => html`<div><dt dir="auto">${name}</dt><dd dir="auto">${text}</dd></div>`)}
    </dl>
    ${isKept
      ? html`<a href="/answers/${id}/requests/" target="_blank" rel="noopener"
          >${gettext("What the model saw")}<span class="visually-hidden"> ${gettext("(a new tab)")}</span></a
        >`
      : nothing}
  </details>`;
}

/** The time of each step. @param {Answer} answer @returns {[string, string][]} */
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
    ["Sources", [...new Set(sources.map(({ title, reference_url }) => title || reference_url))].join("; ")],
  ];
  return rows.filter(([, text]) => text);
}

/** @param {StoredMessage} message */
function shortText({ seconds, usage, costs, models }) {
  const tokens = tokensOf(usage);
  const parts = [
    seconds === undefined ? "" : secondsText(seconds),
    tokens ? `${tokens.toLocaleString()} tokens` : "",
    costs ? costsText(costs) : "",
  ].filter(Boolean);
  return parts.join(" · ") || models?.join(", ") || "Details";
}

/** @param {StoredMessage} message @returns {[string, string][]} */
function rowsOf({ models, version, usage, costs, first_text_seconds, seconds }) {
  /** @type {[string, string | number | undefined][]} */
  const rows = [
    [models?.length === 1 ? "Model" : "Models", models?.join(", ")],
    [gettext("Application version"), version],
    [gettext("Tokens in"), usage && part(usage.prompt_tokens, usage.cached_tokens, "from the cache")],
    [gettext("Tokens out"), usage && part(usage.completion_tokens, usage.reasoning_tokens, "for thinking")],
    ["Cost", costs && costsText(costs)],
    [gettext("First text after"), first_text_seconds === undefined ? "" : secondsText(first_text_seconds)],
    ["Duration", seconds === undefined ? "" : secondsText(seconds)],
  ];
  return rows.filter(([, text]) => text).map(([name, text]) => [name, String(text)]);
}

/** @param {number} whole @param {number | undefined} some @param {string} words */
function part(whole, some, words) {
  if (!whole) return "";
  return whole.toLocaleString() + (some ? `, ${some.toLocaleString()} of them ${words}` : "");
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
  return amount.toLocaleString([], { style: "currency", currency, ...digits });
}

/**
 * What the answers took together.
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

/** Such as "1,200 tokens · at least $0.02", where an answer's cost is not known. @param {Sum} sum */
export function sumText({ tokens, costs, is_partial }) {
  const cost = costsText(costs);
  return [tokens ? `${tokens.toLocaleString()} tokens` : "", cost && is_partial ? `at least ${cost}` : cost]
    .filter(Boolean)
    .join(" · ");
}
