// The form for a tool's arguments. It calls the tool, and shows the report next to the form.

import { part, parts, reasonOf, UNREACHABLE } from "../../parts.js";
import { render } from "../../markdown.js";

/** @import { Field } from "../../parts.js" */

/**
 * `call(signal)` sends the values of the form; the report is shown in `outcome`.
 * @param {HTMLFormElement} form @param {HTMLElement} outcome @param {(signal: AbortSignal) => Promise<Response>} call
 */
export function tryOut(form, outcome, call) {
  const status = part(form, "[data-status]", HTMLElement);
  const button = part(form, "[type=submit]", HTMLButtonElement);
  const stop = part(form, "[data-stop]", HTMLButtonElement);
  /** @type {AbortController | null} */
  let asked = null;

  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== "mode" || target.value !== "json") return;
    const json = part(form, "[name=json]", HTMLTextAreaElement);
    json.value = written(form) ?? json.value;
  });
  stop.addEventListener("click", () => asked?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    asked = new AbortController();
    const { signal } = asked;
    button.disabled = true;
    stop.hidden = false;
    const started = performance.now();
    const seconds = () => Math.round((performance.now() - started) / 1000);
    status.textContent = "Calling…";
    const clock = setInterval(() => {
      if (seconds() % 5 === 0) status.textContent = `Calling… ${seconds()} s`;
    }, 1000);
    try {
      const response = await call(signal);
      if (!response.ok) throw new Error(`The call failed (status ${response.status}).`);
      outcome.innerHTML = await response.text();
      status.textContent = "";
      mark(form, outcome);
      await render(outcome);
      parts(outcome, "[data-result]", HTMLElement)[0]?.focus();
    } catch (error) {
      status.textContent =
        signal.aborted
          ? "Stopped. Any effects that the tool has already had are not undone."
          : failureOf(error);
    } finally {
      clearInterval(clock);
      button.disabled = false;
      stop.hidden = true;
    }
  });
}

/** Return why a request failed. @param {unknown} error */
export const failureOf = (error) => (error instanceof TypeError ? `${UNREACHABLE} Reload the page.` : reasonOf(error));

/** Shows each error at its field. @param {HTMLFormElement} form @param {HTMLElement} outcome */
function mark(form, outcome) {
  for (const note of form.querySelectorAll(".console-error")) note.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const mistake of parts(outcome, "[data-mistake]", HTMLElement)) {
    const name = mistake.dataset.mistake ?? "";
    const place = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
    const input = place?.querySelector("input, select, textarea");
    if (!input) continue;
    const note = document.createElement("p");
    note.id = `${input.id}-error`;
    note.className = "console-error";
    note.textContent = part(mistake, "span", HTMLElement).textContent;
    input.after(note);
    input.setAttribute("aria-invalid", "true");
    const help = (input.getAttribute("aria-describedby") ?? "").split(" ")[0];
    input.setAttribute("aria-describedby", `${help} ${note.id}`);
  }
}

/** The fields as JSON; null if one of them cannot be read. @param {HTMLFormElement} form */
function written(form) {
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const field of parts(form, "[data-field]", HTMLElement)) {
    const { kind, field: name = "" } = field.dataset;
    const [fixed] = parts(field, "[data-fixed]", HTMLElement);
    const text = fixed ? (fixed.textContent ?? "") : /** @type {Field} */ (part(field, "input, select, textarea", HTMLElement)).value;
    if (!text.trim() || fixed?.dataset.fixed === "tool") continue;
    if (kind === "text") {
      found[name] = text;
      continue;
    }
    try {
      found[name] = JSON.parse(text);
    } catch {
      return null;
    }
  }
  return JSON.stringify(found, null, 2);
}
