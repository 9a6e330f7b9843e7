/** Announces events to screen readers: starts, ends, failures and whole sentences, never single words. */

import { headingOf, outcomeText } from "../cards/interaction.js";
import { SpokenAnswer } from "./spoken-answer.js";
import { gettext } from "../texts.js";

/** @import { Event, RunStatus } from "../session/frames.js" */

/** @type {Partial<Record<RunStatus, string>>} */
const OUTCOMES = {
  queued: gettext("Waiting for the answer."),
  running: gettext("Answer started."),
  done: gettext("Answer complete."),
  stopped: gettext("Answer stopped."),
};

export class Announcer {
  /** @type {Map<string, string>} titles of stages that are open, by run and stage */
  #titles = new Map();
  #polite;
  #urgent;
  #spoken;

  /** @param {HTMLElement} polite @param {HTMLElement} urgent @param {HTMLElement} spoken live regions, the last for answers */
  constructor(polite, urgent, spoken) {
    this.#polite = polite;
    this.#urgent = urgent;
    this.#spoken = new SpokenAnswer(spoken);
  }

  /** @param {string} text */
  say(text) {
    speak(this.#polite, text);
  }

  /** @param {string} text */
  warn(text) {
    speak(this.#urgent, text);
  }

  /** Another conversation is shown, so announcements of the previous one are dropped. */
  clear() {
    this.#spoken.clear();
  }

  /** @param {Event} event that has just happened */
  tell(event) {
    this.#spoken.take(event);
    if (event.type === "run.status") this.#outcome(event.status);
    else if (event.type === "run.error") this.warn(gettext("The answer failed. {reason}", { reason: event.text }));
    else if (isCall(event)) return; // Its step announces the result.
    else if (event.type === "interaction.requested") this.#asked(event.asked);
    else if (event.type === "interaction.resolved") this.say(outcomeText({ ...event, resolved: event }));
    else if (event.type === "notice.added") this.say(event.text);
    else if (event.type === "stage.opened") this.#titles.set(key(event), event.title);
    else if (event.type === "stage.closed") this.#closed(event);
  }

  /** @param {Record<string, any>} asked */
  #asked(asked) {
    const heading = headingOf(asked);
    this.warn(
      asked.four_eyes
        ? gettext("Another user’s input is needed: {heading}", { heading })
        : gettext("Your input is needed: {heading}", { heading }),
    );
  }

  /** @param {RunStatus} status */
  #outcome(status) {
    const words = OUTCOMES[status];
    if (words) this.say(words);
  }

  /** @param {import("../session/frames.js").StageClosed} event */
  #closed(event) {
    const title = this.#titles.get(key(event));
    this.#titles.delete(key(event));
    if (event.failed) this.say(gettext("Step failed: {title}.", { title: title ?? gettext("unnamed") }));
  }
}

/** @param {Event} event */
function isCall(event) {
  return "kind" in event && event.kind === "client_tool";
}

/** @param {HTMLElement} region @param {string} text */
function speak(region, text) {
  if (region.textContent !== text) {
    region.textContent = text;
    return;
  }
  // Repeated text is announced only if the region changes.
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent ||= text));
}

/** @param {{run: string, stage: string}} event */
function key({ run, stage }) {
  return `${run} ${stage}`;
}
