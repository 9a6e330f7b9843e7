/** Executes the calls that answers make on the page. Only one of the pages that show a conversation does so. */

import { interactionsOf, isOpenCall } from "../session/interactions.js";
import { postJson } from "../requests.js";
import { uuid } from "../session/session.js";
import { gettext } from "../texts.js";

/**
 * @import { Interaction } from "../session/interactions.js"
 * @import { PageTools } from "./tools.js"
 * @import { Session } from "../session/session.js"
 */

/** Milliseconds for which other pages wait for the page that sent the question. */
const COURTESY = 1_000;
const AGAIN = 500;
const PAGE_KEY = "page";
const LOST = gettext("The page was reloaded during the call, so the tool may already have run. Check whether it did before you call it again.");

export class ClientCalls {
  #tools;
  #session;
  #page = uuid();
  /** The ID of the page in this tab before a reload. */
  #former = sessionStorage.getItem(PAGE_KEY) ?? "";
  /** @type {Set<string>} */
  #seen = new Set();
  /** @type {Map<Interaction, {run: string, leave: (result: null) => void}>} calls that are carried out here */
  #open = new Map();
  /** Calls are executed one at a time, because they may affect the same field. */
  #last = Promise.resolve();

  /** @param {PageTools} tools @param {Session} session */
  constructor(tools, session) {
    this.#tools = tools;
    this.#session = session;
    sessionStorage.setItem(PAGE_KEY, this.#page);
    session.addEventListener("change", () => this.#look());
  }

  #look() {
    const { loaded, conversation } = this.#session;
    const answer = conversation.running;
    for (const [call, { run, leave }] of this.#open) if (!this.#isAwaited(run, call)) leave(null);
    // Until the answer waits, the server has not stored its calls.
    if (!loaded || answer?.status !== "waiting") return;
    for (const call of interactionsOf(answer)) {
      const id = `${answer.id} ${call.key}`;
      if (!isOpenCall(call) || this.#seen.has(id)) continue;
      this.#seen.add(id);
      void this.#take(answer.id, call);
    }
  }

  /** @param {string} run @param {Interaction} call */
  async #take(run, call) {
    if (run !== this.#session.asked) await pause(COURTESY);
    const place = { run, key: call.key };
    const state = await this.#post(call, "/api/ai/tool-claim", { ...place, page: this.#page, former: this.#former });
    if (state === "lost") await this.#post(call, "/api/ai/tool-result", { ...place, error: LOST });
    if (state !== "granted") return;
    call.isHere = true;
    this.#session.redraw(run);
    this.#last = this.#last.then(() => this.#carryOut(place, call));
  }

  /** @param {{run: string, key: string}} place @param {Interaction} call */
  async #carryOut(place, call) {
    if (!this.#isAwaited(place.run, call)) return; // It was stopped while an earlier call was running.
    // A tool may never return. Once its call is no longer awaited, the next call can begin.
    /** @type {Promise<null>} */
    const left = new Promise((leave) => this.#open.set(call, { run: place.run, leave }));
    const result = await Promise.race([left, this.#tools.call(call.asked.name, call.asked.arguments)]);
    this.#open.delete(call);
    if (result) await this.#post(call, "/api/ai/tool-result", { ...place, ...result });
  }

  /** @param {string} run @param {Interaction} call */
  #isAwaited(run, call) {
    return !call.resolved && this.#session.conversation.running?.id === run;
  }

  /**
   * Send until the server accepts or rejects it, while the call is open.
   * @param {Interaction} call @param {string} path @param {object} body
   * @returns {Promise<string>} the state that the server returns, or ""
   */
  async #post(call, path, body) {
    while (!call.resolved) {
      const { status, told } = await postJson(path, body);
      if (status === 200) return told.state;
      if (status >= 400 && status < 500 && status !== 409) return "";
      await pause(AGAIN);
    }
    return "";
  }
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((over) => setTimeout(over, milliseconds));
}
