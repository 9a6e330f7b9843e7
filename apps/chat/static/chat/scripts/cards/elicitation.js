/** The card of an MCP server's question: a form, or a page to open. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { InteractionAnswer } from "../session/frames.js" */
/** @import { Interaction } from "../session/interactions.js" */
/**
 * @typedef {{name: string, label: string, hint: string, type: string, required: boolean, default?: unknown,
 *   format?: string, options?: {value: string, label: string}[], least?: number, most?: number}} Field
 */

/** @type {Record<string, string>} the type of an input by the format of a text */
const INPUTS = { email: "email", uri: "url", date: "date" };

/**
 * @param {Interaction} interaction
 * @param {string} id
 * @param {boolean} canAnswer
 * @param {(answer: InteractionAnswer) => void} send
 */
export function elicitationCard({ asked }, id, canAnswer, send) {
  /** @type {Field[]} */
  const fields = asked.fields ?? [];
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    send({ outcome: "accepted", content: contentOf(form, fields) });
  };
  return html`<form @submit=${submit}>
    <fieldset class="fields" ?disabled=${!canAnswer}>
      <legend class="visually-hidden">${gettext("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${asked.message}</p>
      ${asked.mode === "url"
        ? address(asked)
        : html`${fields.map((one, index) => field(one, `${id}-${index}`))}
            <p class="hint">${gettext("Your answer is sent to this server. Don’t enter a password.")}</p>`}
      <div class="interaction-buttons">
        ${asked.mode === "url" ? opening(asked, canAnswer, send) : html`<button class="button primary">${icon("check")}${gettext("Send")}</button>`}
        <button type="button" class="button" @click=${() => send({ outcome: "declined" })}>${icon("x")}${gettext("Decline")}</button>
        <button type="button" class="button" @click=${() => send({ outcome: "cancelled" })}>${gettext("Cancel")}</button>
      </div>
    </fieldset>
  </form>`;
}

/** @param {Record<string, any>} asked */
function address({ url, host, repeats }) {
  return html`<p>${gettext("The server is asking you to open a page on this host:")} <strong class="interaction-host">${host}</strong></p>
    <p class="hint argument-value">${url}</p>
    ${repeats ? html`<p class="hint">${gettext("When you’re done, return to this page and choose “Done”. The tool then runs again.")}</p>` : nothing}`;
}

/** @param {Record<string, any>} asked @param {boolean} canAnswer @param {(answer: InteractionAnswer) => void} send */
function opening(asked, canAnswer, send) {
  if (!canAnswer) return nothing;
  const accept = () => send({ outcome: "accepted" });
  const open = (/** @type {boolean} */ isLast) => html`<a class="button primary" href=${asked.url}
    target="_blank" rel="noopener noreferrer" @click=${isLast ? accept : nothing}>${gettext("Open {host}", { host: asked.host })}</a>`;
  if (!asked.repeats) return open(true);
  return html`${open(false)}
    <button type="button" class="button" @click=${accept}>${icon("check")}${gettext("Done")}</button>`;
}

/** @param {Field} one @param {string} id */
function field(one, id) {
  const hint = one.hint ? html`<span class="hint" id="${id}-hint" dir="auto">${one.hint}</span>` : nothing;
  if (one.type === "choices") return choices(one, id, hint);
  if (one.type === "boolean")
    return html`<div class="choices">
      <label class="choice" for=${id}>
        <input type="checkbox" id=${id} name="field ${one.name}" ?checked=${one.default === true} aria-describedby=${one.hint ? `${id}-hint` : nothing} />
        <span dir="auto">${one.label}</span>
      </label>
      ${hint}
    </div>`;
  return html`<div class="argument">
    <label class="argument-name" for=${id} dir="auto">${one.label}${one.required ? "" : ` ${gettext("(optional)")}`}</label>
    ${input(one, id)} ${hint}
  </div>`;
}

/** @param {Field} one @param {string} id */
function input(one, id) {
  const { name, required } = one;
  const described = one.hint ? `${id}-hint` : nothing;
  if (one.type === "choice")
    return html`<select id=${id} name="field ${name}" ?required=${required} aria-describedby=${described}>
      <option value=""></option>
      ${one.options?.map(({ value, label }) => html`<option value=${value} ?selected=${value === one.default}>${label}</option>`)}
    </select>`;
  if (one.type === "string")
    return html`<input type=${INPUTS[one.format ?? ""] ?? "text"} id=${id} name="field ${name}" dir="auto"
      value=${one.default ?? ""} ?required=${required} minlength=${one.least ?? nothing} maxlength=${one.most ?? 20_000}
      aria-describedby=${described} />`;
  return html`<input type="number" id=${id} name="field ${name}" step=${one.type === "integer" ? "1" : "any"}
    value=${one.default ?? ""} ?required=${required} min=${one.least ?? nothing} max=${one.most ?? nothing}
    aria-describedby=${described} />`;
}

/** @param {Field} one @param {string} id @param {unknown} hint */
function choices(one, id, hint) {
  const chosen = Array.isArray(one.default) ? one.default : [];
  return html`<fieldset class="choices" aria-describedby=${one.hint ? `${id}-hint` : nothing}>
    <legend class="argument-name" dir="auto">${one.label}</legend>
    ${one.options?.map(
      ({ value, label }, index) => html`<label class="choice" for="${id}-${index}">
        <input type="checkbox" id="${id}-${index}" name="field ${one.name}" value=${value} ?checked=${chosen.includes(value)} />
        <span dir="auto">${label}</span>
      </label>`,
    )}
    ${hint}
  </fieldset>`;
}

/** @param {HTMLFormElement} form @param {Field[]} fields @returns {Record<string, unknown>} without empty fields */
function contentOf(form, fields) {
  const data = new FormData(form);
  /** @type {[string, unknown][]} */
  const found = fields.map(({ name, type, required }) => {
    const values = data.getAll(`field ${name}`).map(String);
    if (type === "boolean") return [name, values.length > 0];
    if (type === "choices") return [name, values.length || required ? values : undefined];
    if (!values[0]) return [name, undefined];
    return [name, type === "string" || type === "choice" ? values[0] : Number(values[0])];
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
