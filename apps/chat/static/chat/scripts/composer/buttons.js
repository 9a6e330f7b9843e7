/** The buttons of the composer, and the options of the next question. */

import "../choice-list.js";
import { html, ifDefined, nothing } from "../../vendor/lit.js";
import { offersCamera } from "./camera.js";
import { icon } from "../icons.js";
import { sendsWithEnter } from "../preferences.js";
import { gettext, pgettext } from "../texts.js";

/** @import { ChoiceOption } from "../choice-list.js" */
/** @import { ChatComposer } from "./composer.js" */
/** @import { Uploads } from "../files/uploads.js" */

/** By the models' names for them; unknown values are shown unchanged. @type {Record<string, string>} */
const EFFORTS = {
  none: gettext("Thinking: none"),
  minimal: gettext("Thinking: minimal"),
  low: gettext("Thinking: low"),
  medium: gettext("Thinking: medium"),
  high: gettext("Thinking: high"),
  xhigh: gettext("Thinking: max"),
};

/** @param {ChatComposer} composer @param {(event: Event) => void} take receives the choice */
export function addButton(composer, take) {
  const { disabled, uploads, tools } = composer;
  const hasCamera = offersCamera(uploads);
  if (!uploads && !tools.length) return nothing;
  const choose = (/** @type {"files" | "photo"} */ what) => /** @type {HTMLInputElement | null} */ (composer.querySelector(`#${what}-to-send`))?.click();
  if (hasCamera || tools.length) {
    return html`<button type="button" class="quiet attach" title=${gettext("Add")} aria-haspopup="menu" aria-expanded="false" ?disabled=${Boolean(disabled)} @click=${openMenu}>
        ${icon("plus")}<span class="visually-hidden">${gettext("Add")}</span>
      </button>
      <add-menu
        .sources=${[...(uploads ? ["files"] : []), ...(hasCamera ? ["photo"] : [])]}
        .tools=${tools}
        @chosen=${(/** @type {CustomEvent<"files" | "photo">} */ { detail }) => choose(detail)}
      ></add-menu>
      ${uploads ? fileField(uploads, take) : nothing}
      ${hasCamera ? html`<input type="file" id="photo-to-send" accept="image/jpeg" capture="environment" hidden aria-label=${gettext("Photo")} @change=${take} />` : nothing}`;
  }
  return html`<button type="button" class="quiet attach" title=${gettext("Attach files")} ?disabled=${Boolean(disabled)} @click=${() => choose("files")}>
      ${icon("plus")}<span class="visually-hidden">${gettext("Attach files")}</span>
    </button>
    ${uploads ? fileField(uploads, take) : nothing}`;
}

/** @param {Event} event */
async function openMenu({ currentTarget }) {
  await import("./add-menu.js");
  if (!(currentTarget instanceof HTMLElement)) return;
  await /** @type {import("./add-menu.js").AddMenu | null} */ (currentTarget.parentElement?.querySelector("add-menu"))?.open(currentTarget);
}

/** @param {Uploads} uploads @param {(event: Event) => void} take */
function fileField(uploads, take) {
  return html`<input
    type="file"
    id="files-to-send"
    multiple
    hidden
    aria-label=${gettext("Files")}
    accept=${ifDefined(uploads.limits.types.join(",") || undefined)}
    @change=${take}
  />`;
}

/** @param {ChatComposer} composer */
export function sendButton({ busy, isAnswer, uploads, canSend }) {
  const word = !busy ? gettext("Send") : isAnswer ? pgettext("to answer", "Answer") : pgettext("to put a message into the queue", "Queue");
  const key = sendsWithEnter() ? gettext("Enter") : gettext("Ctrl + Enter");
  const why = uploads?.isPending ? gettext("Files are still uploading") : gettext("{word} ({key})", { word, key });
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
    ${icon("mic")}
    <span class="visually-hidden">${gettext("Dictate")}</span>
  </button>`;
}

/**
 * The options of the conversation.
 * @param {ChatComposer} composer
 * @param {{application: (slug: string) => void, model: (id: string) => void, effort: (effort: string) => void}} choose
 */
export function composerChoices({ applications, application, models, model, efforts, effort }, choose) {
  return html`${application && applications.length ? applicationChoice(application, applications, choose.application) : nothing} ${models.length ? modelChoice(models, model, choose.model) : nothing} ${efforts.length ? effortChoice(efforts, effort, choose.effort) : nothing}`;
}

/** The application of a new conversation. @param {ChoiceOption} application @param {ChoiceOption[]} others @param {(slug: string) => void} choose */
function applicationChoice(application, others, choose) {
  return html`<choice-list
    class="application-choice"
    label=${gettext("App")}
    .options=${[application, ...others]}
    .value=${application.value}
    @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => choose(detail)}
  ></choice-list>`;
}

/** @param {ChatComposer["models"]} models the first is the application's own @param {string} model @param {(id: string) => void} choose */
function modelChoice(models, model, choose) {
  const [own, ...others] = models;
  const options = [
    { value: "", title: own?.title ?? "", detail: [gettext("Default"), own?.detail].filter(Boolean).join(" · ") },
    ...others.map(({ id, title, detail }) => ({ value: id, title, detail })),
  ];
  return html`<choice-list
    label=${gettext("Choose a model")}
    icon="sliders-horizontal"
    .options=${options}
    .value=${others.some(({ id }) => id === model) ? model : ""}
    @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => choose(detail)}
  ></choice-list>`;
}

/** @param {string[]} efforts @param {string} effort @param {(effort: string) => void} choose */
function effortChoice(efforts, effort, choose) {
  const options = [
    { value: "", title: gettext("Thinking: default") },
    ...efforts.map((one) => ({ value: one, title: EFFORTS[one] ?? `Thinking: ${one}` })),
  ];
  return html`<choice-list
    label=${gettext("Thinking")}
    icon="brain"
    .options=${options}
    .value=${effort}
    .words=${effort ? "" : gettext("Thinking")}
    @chosen=${(/** @type {CustomEvent<string>} */ { detail }) => choose(detail)}
  ></choice-list>`;
}
