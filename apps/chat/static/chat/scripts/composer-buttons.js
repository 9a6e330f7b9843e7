/** The buttons around the box, and what can be set for the next question. */

import { html, ifDefined, nothing } from "../vendor/lit.js";
import { icon } from "./icons.js";
import { sendsWithEnter } from "./preferences.js";
import { gettext, pgettext } from "./texts.js";

/** @import { ChatComposer } from "./composer.js" */

/** By what models call them; others are shown as they are. @type {Record<string, string>} */
const EFFORTS = {
  none: gettext("Thinking: none"),
  minimal: gettext("Thinking: minimal"),
  low: gettext("Thinking: little"),
  medium: gettext("Thinking: medium"),
  high: gettext("Thinking: much"),
  xhigh: gettext("Thinking: very much"),
};

/** @param {ChatComposer} composer @param {(event: Event) => void} take what was chosen */
export function attachButton(composer, take) {
  const { disabled, uploads } = composer;
  const choose = () => /** @type {HTMLInputElement | null} */ (composer.querySelector("#files-to-send"))?.click();
  return html`<button type="button" class="quiet attach" title=${gettext("Attach files")} ?disabled=${Boolean(disabled)} @click=${choose}>
      ${icon("paperclip")}<span class="visually-hidden">${gettext("Attach files")}</span>
    </button>
    <input
      type="file"
      id="files-to-send"
      multiple
      hidden
      aria-label=${gettext("Files")}
      accept=${ifDefined(uploads?.limits.types.join(",") || undefined)}
      @change=${take}
    />`;
}

/** @param {ChatComposer} composer */
export function sendButton({ busy, isAnswer, uploads, canSend }) {
  const word = !busy ? gettext("Send") : isAnswer ? pgettext("to answer", "Answer") : pgettext("to put a message into the queue", "Queue");
  const key = sendsWithEnter() ? gettext("Enter") : gettext("Ctrl + Enter");
  const why = uploads?.isPending ? gettext("The files are being uploaded") : gettext("{word} ({key})", { word, key });
  return html`<button type="submit" class="round" aria-disabled=${String(!canSend)} title=${why}>
    ${icon("arrow-up")}<span class="visually-hidden">${word}</span>
  </button>`;
}

/** @param {() => void} stop */
export function stopButton(stop) {
  return html`<button type="button" class="round stop" title=${gettext("Stop (Esc)")} @click=${stop}>
    ${icon("square")}<span class="visually-hidden">${gettext("Stop")}</span>
  </button>`;
}

/** @param {boolean} isGoing @param {() => void} toggle */
export function dictateButton(isGoing, toggle) {
  const word = isGoing ? gettext("Stop dictating") : gettext("Dictate");
  return html`<button type="button" class="quiet dictate" aria-pressed=${String(isGoing)} title=${word} @click=${toggle}>
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 19v3" /><path d="M19 10v2a7 7 0 0 1-14 0v-2" /><rect x="9" y="2" width="6" height="13" rx="3" />
    </svg>
    <span class="visually-hidden">${gettext("Dictate")}</span>
  </button>`;
}

/**
 * What can be chosen for the conversation.
 * @param {ChatComposer} composer
 * @param {{model: (id: string) => void, effort: (effort: string) => void}} choose
 */
export function composerChips(composer, choose) {
  const { models, efforts } = composer;
  if (!models.length && !efforts.length) return nothing;
  return html`<div class="composer-chips">
    ${models.length ? modelChip(composer, choose.model) : nothing} ${efforts.length ? effortChip(composer, choose.effort) : nothing}
  </div>`;
}

/** @param {ChatComposer} composer @param {(id: string) => void} choose */
function modelChip({ models, model }, choose) {
  const [own, ...others] = models;
  const chosen = others.some(({ id }) => id === model) ? model : "";
  /** @param {Event} event */
  const change = (event) => choose(/** @type {HTMLSelectElement} */ (event.target).value);
  return html`<label class="visually-hidden" for="model">${gettext("Which model answers")}</label>
    <select id="model" class="effort" data-chosen=${chosen} @change=${change}>
      <option value="" ?selected=${!chosen}>${gettext("Model: {title}", { title: own?.title ?? "" })}</option>
      ${others.map(({ id, title }) => html`<option value=${id} ?selected=${id === chosen}>${gettext("Model: {title}", { title })}</option>`)}
    </select>`;
}

/** @param {ChatComposer} composer @param {(effort: string) => void} choose */
function effortChip({ efforts, effort }, choose) {
  /** @param {Event} event */
  const change = (event) => choose(/** @type {HTMLSelectElement} */ (event.target).value);
  return html`<label class="visually-hidden" for="effort">${gettext("How much the model thinks")}</label>
    <select id="effort" class="effort" data-chosen=${effort} @change=${change}>
      <option value="" ?selected=${!effort}>${gettext("Thinking: as set up")}</option>
      ${efforts.map(
        (one) => html`<option value=${one} ?selected=${one === effort}>${EFFORTS[one] ?? `Thinking: ${one}`}</option>`,
      )}
    </select>`;
}
