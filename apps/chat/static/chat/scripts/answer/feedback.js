/** The user's feedback on an answer: two buttons below it, and a form for the reason. */

import { html, LitElement, live, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { placeBeside } from "../placing.js";
import { get, post, remove } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @typedef {"" | "up" | "down"} Rating
 * @typedef {{rating: Rating, reason: string, comment: string, shares_transcript: boolean}} Feedback
 */

/** @type {Feedback} */
const NONE = { rating: "", reason: "", comment: "", shares_transcript: false };
const REASONS = [
  ["wrong", gettext("Incorrect")],
  ["incomplete", gettext("Incomplete")],
  ["not_asked", gettext("Not what I asked for")],
  ["slow", gettext("Too slow")],
  ["unsafe", gettext("Unsafe")],
  ["other", gettext("Something else")],
];
const LONGEST_COMMENT = 2_000;
const AT_ONCE = 100;
const FAILED = gettext("That didn’t work. Check your connection and try again.");

/** @type {Map<string, Promise<Map<string, Feedback>>>} the requests in progress, by message */
const asked = new Map();
/** @type {string[]} */
let next = [];
/** @type {Promise<Map<string, Feedback>> | undefined} */
let asking;

/** The user's feedback on an answer. Answers that appear together are requested at once. @param {string} message */
async function known(message) {
  if (!asked.has(message)) {
    next.push(message);
    asking ??= new Promise((resolve) => setTimeout(() => resolve(ask()), 50));
    asked.set(message, asking);
  }
  return (await asked.get(message))?.get(message) ?? NONE;
}

/** @returns {Promise<Map<string, Feedback>>} */
async function ask() {
  const messages = next;
  next = [];
  asking = undefined;
  const found = new Map();
  for (let place = 0; place < messages.length; place += AT_ONCE) {
    const names = messages.slice(place, place + AT_ONCE).map((message) => ["message", message]);
    const told = await get(`/feedback/?${new URLSearchParams(names)}`);
    for (const [message, feedback] of Object.entries(told?.feedback ?? {})) found.set(message, feedback);
  }
  return found;
}

/** Show feedback that was given elsewhere on the page. @param {string} message @param {Feedback} given */
export function noteFeedback(message, given) {
  asked.set(message, Promise.resolve(new Map([[message, given]])));
  for (const one of document.querySelectorAll("chat-feedback")) if (one instanceof ChatFeedback && one.message === message) one.given = given;
}

/** @param {string | undefined} message of an answer that is stored @returns {unknown} a template for Lit */
export function feedbackOn(message) {
  if (!message || !document.getElementById("main")?.dataset.feedback) return nothing;
  return html`<chat-feedback .message=${message}></chat-feedback>`;
}

class ChatFeedback extends LitElement {
  static properties = {
    message: { attribute: false },
    given: { state: true },
    isOpen: { state: true },
    said: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.message = "";
    this.given = NONE;
    this.isOpen = false;
    this.said = "";
    this.problem = "";
  }

  createRenderRoot() {
    return this;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("message")) void this.#load(this.message);
  }

  /** @param {string} message */
  async #load(message) {
    const given = await known(message);
    if (message === this.message && !this.given.rating) this.given = given;
  }

  render() {
    return html`<span class="thumbs">${this.#thumb("up", gettext("Good answer"))}${this.#thumb("down", gettext("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem ? html`<p class="feedback-problem" role="alert">${this.problem}</p>` : nothing}
      ${this.isOpen ? this.#form() : nothing}`;
  }

  /** @param {"up" | "down"} rating @param {string} words */
  #thumb(rating, words) {
    const isGiven = this.given.rating === rating;
    return html`<button
      type="button"
      class="quiet thumb"
      data-rating=${rating}
      title=${words}
      aria-pressed=${String(isGiven)}
      aria-expanded=${isGiven ? String(this.isOpen) : nothing}
      @click=${() => this.#rate(rating)}
    >
      ${icon(`thumbs-${rating}`)}<span class="visually-hidden">${words}</span>
    </button>`;
  }

  #form() {
    const { rating, reason, comment, shares_transcript: shares } = this.given;
    const id = `feedback-${this.message}`;
    return html`<form class="menu-popover feedback-form" popover aria-label=${gettext("Your feedback")} @submit=${this.#submit} @toggle=${this.#toggled}>
      ${rating === "down"
        ? html`<fieldset class="reasons">
            <legend>${gettext("What was wrong with the answer? (optional)")}</legend>
            ${REASONS.map(
              ([value, words]) => html`<label class="reason"><input type="radio" name="reason" value=${value} ?checked=${value === reason} />${words}</label>`,
            )}
          </fieldset>`
        : nothing}
      <details class="more-field" ?open=${comment !== "" || rating === "up"}>
        <summary>${icon("plus")}${gettext("Add a comment")}</summary>
        <label class="visually-hidden" for="${id}-comment">${gettext("Comment (optional)")}</label>
        <textarea id="${id}-comment" name="comment" rows="3" maxlength=${LONGEST_COMMENT} dir="auto"
          .value=${comment}></textarea>
      </details>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${live(shares)} aria-describedby="${id}-share" />
        ${gettext("Include this question and answer")}
      </label>
      <p class="hint" id="${id}-share">
        ${gettext("Your rating and comment are visible to this app’s administrators. They see the conversation only if you include it.")}
      </p>
      <div class="feedback-buttons">
        <button class="button primary">${gettext("Send")}</button>
        <button type="button" class="button quiet" @click=${this.#remove}>${gettext("Remove my feedback")}</button>
      </div>
    </form>`;
  }

  updated() {
    const form = this.#shown;
    const thumb = this.#pressed;
    if (!form || !thumb || form.matches(":popover-open")) return;
    form.showPopover();
    placeBeside(form, thumb);
    if (thumb === document.activeElement) form.querySelector("input")?.focus();
  }

  /** A press elsewhere or Esc closes it. @param {ToggleEvent} event */
  #toggled({ newState }) {
    if (newState === "closed") this.isOpen = false;
    // From now on, its thumb closes it instead of opening it again.
    else if (this.#pressed) Object.assign(this.#pressed, { popoverTargetElement: this.#shown, popoverTargetAction: "hide" });
  }

  /** @returns {HTMLElement | null} */
  get #shown() {
    return this.querySelector(".feedback-form");
  }

  /** @returns {HTMLElement | null} the thumb that was given */
  get #pressed() {
    return this.querySelector(`[data-rating=${this.given.rating || "up"}]`);
  }

  /** @param {"up" | "down"} rating */
  async #rate(rating) {
    if (this.given.rating === rating) {
      this.isOpen = !this.isOpen;
      return;
    }
    const reason = rating === "up" ? "" : this.given.reason;
    if (await this.#save({ ...this.given, rating, reason })) this.isOpen = true;
  }

  /** @param {SubmitEvent} event */
  async #submit(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const text = (/** @type {string} */ name) => String(data.get(name) ?? "");
    const shares = data.has("shares_transcript");
    const wanted = { ...this.given, reason: text("reason"), comment: text("comment"), shares_transcript: shares };
    if (await this.#save(wanted)) this.#close();
  }

  /** @param {Feedback} wanted */
  async #save(wanted) {
    const { shares_transcript: shares, ...fields } = wanted;
    const is = await post(this.#address, shares ? { ...fields, shares_transcript: "on" } : fields);
    this.#tell(is, gettext("Thank you for your feedback."));
    if (is) this.given = wanted;
    return is;
  }

  async #remove() {
    const is = await remove(this.#address);
    this.#tell(is, gettext("Your feedback was removed."));
    if (!is) return;
    this.#close();
    this.given = NONE;
  }

  /** @param {boolean} is true if it worked @param {string} words */
  #tell(is, words) {
    this.said = is ? words : "";
    this.problem = is ? "" : FAILED;
  }

  #close() {
    this.isOpen = false; // Set immediately: a redrawn form would open again.
    this.#shown?.hidePopover();
    this.#pressed?.focus();
  }

  get #address() {
    return `/messages/${this.message}/feedback/`;
  }
}
customElements.define("chat-feedback", ChatFeedback);
