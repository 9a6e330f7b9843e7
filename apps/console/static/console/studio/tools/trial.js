// Trying the tools of a toolset of the draft, in a dialog: the list, one tool's form, and its report.

import { part, parts, reasonOf } from "../../parts.js";
import { button, element, newId } from "../elements.js";
import { render, tryOut } from "../../tool-trial.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

/** @param {Store} store @param {number} index @param {string} title */
export function openTrial(store, index, title) {
  const id = newId("trial");
  const body = element("div", { class: "workbench studio-trial" });
  const back = button("Back to its tools", () => list(), { hidden: true });
  /** @type {HTMLDialogElement} */
  const dialog = element(
    "dialog",
    { class: "studio-dialog", "aria-labelledby": id },
    element(
      "div",
      { class: "studio-actions" },
      element("h2", { id }, `Try ${title}`),
      element("span", { class: "studio-gap" }),
      back,
      button("Close", () => dialog.close()),
    ),
    element("p", { class: "studio-quiet" }, "The draft as it stands here, with you as its user. A call does what it would do in a run."),
    body,
  );
  const waiting = new AbortController();
  dialog.addEventListener("close", () => {
    waiting.abort();
    dialog.remove();
  });
  part(document, "[data-studio]", HTMLElement).append(dialog);
  dialog.showModal();

  /** @param {Json} more */
  const ask = (more, signal = waiting.signal) => store.send("trial", { ...store.current, place: String(index), ...more }, signal);
  /** @param {Json} more */
  async function show(more) {
    body.replaceChildren(element("p", { role: "status" }, "Opening the toolset…"));
    back.hidden = !more.name;
    try {
      const response = await ask(more);
      if (!response.ok) throw new Error((await response.json().catch(() => ({}))).message ?? `The toolset could not be opened (status ${response.status}).`);
      body.innerHTML = await response.text();
      await render(body);
    } catch (error) {
      if (!waiting.signal.aborted) body.replaceChildren(element("p", { role: "alert", class: "studio-error" }, reasonOf(error)));
    }
  }
  async function list() {
    await show({});
    const names = parts(body, "[data-name]", HTMLElement);
    for (const one of names) one.addEventListener("click", () => form(one.dataset.name ?? ""));
    names[0]?.focus();
  }
  /** @param {string} name */
  async function form(name) {
    await show({ name });
    const found = body.querySelector("form[data-try]");
    if (!(found instanceof HTMLFormElement)) return;
    /** @param {AbortSignal} signal */
    const call = (signal) => ask({ name, arguments: Object.fromEntries(new FormData(found)) }, signal);
    tryOut(found, part(body, "[data-outcome]", HTMLElement), call);
    parts(found, "textarea, input:not([type=radio]), select, button", HTMLElement)[0]?.focus();
  }
  void list();
}
