// Tries the tools of the draft or of the live version, in a dialog: the list, one tool's form, and its report.

import { part, parts } from "../../parts.js";
import { button, element, newId } from "../elements.js";
import { failureOf, tryOut } from "./trial-form.js";
import { render } from "../../markdown.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

/** @param {Store} store @param {number | "all"} place of the toolset in the draft @param {string} title */
export function openTrial(store, place, title) {
  const id = newId("trial");
  const body = element("div", { class: "console-page studio-trial" });
  let tried = "";
  const back = button("Back to the tools", () => list(), { hidden: true });
  const version = element(
    "select",
    { id: `${id}-version`, onchange: () => list(false) },
    element("option", { value: "draft" }, "The draft"),
    element("option", { value: "live" }, `Live version ${store.state.number}`),
  );
  /** @type {HTMLDialogElement} */
  const dialog = element(
    "dialog",
    { class: "studio-dialog", "aria-labelledby": id },
    element(
      "div",
      { class: "studio-actions" },
      element("h2", { id }, `Try ${title}`),
      element("span", { class: "studio-gap" }),
      store.state.number > 0 && element("span", { class: "studio-actions" }, element("label", { htmlFor: version.id }, "Version"), version),
      back,
      button("Close", () => dialog.close()),
    ),
    element("p", { class: "studio-quiet" }, "Calls run with your permissions and have the same effects as in a run."),
    body,
  );
  /** The current view or request; opening another one aborts it. */
  let shown = new AbortController();
  dialog.addEventListener("close", () => {
    shown.abort();
    dialog.remove();
  });
  part(document, "[data-studio]", HTMLElement).append(dialog);
  dialog.showModal();

  /** @param {Json} more @param {AbortSignal} signal */
  const ask = (more, signal) => store.send("trial", { ...store.current, place, which: version.value, ...more }, signal);
  /** @param {Json} more */
  async function show(more) {
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    body.replaceChildren(element("p", { role: "status" }, "Opening…"));
    back.hidden = !more.name;
    try {
      const response = await ask(more, signal);
      if (!response.ok) throw new Error((await response.json().catch(() => ({}))).message ?? `The tools could not be opened (status ${response.status}).`);
      const html = await response.text();
      if (signal.aborted) return;
      body.innerHTML = html;
      await render(body);
    } catch (error) {
      if (!signal.aborted) body.replaceChildren(element("p", { role: "alert", class: "studio-error" }, failureOf(error)));
    }
  }
  /** @param {boolean} [isFocused] the tool that was tried last, or the first one, gets the focus */
  async function list(isFocused = true) {
    await show({});
    filter(body);
    const names = parts(body, "[data-name]", HTMLElement);
    for (const one of names) one.addEventListener("click", () => form(one.dataset.name ?? ""));
    if (isFocused) (names.find((one) => one.dataset.name === tried) ?? names[0])?.focus();
  }
  /** @param {string} name */
  async function form(name) {
    tried = name;
    await show({ name });
    const found = body.querySelector("form[data-try]");
    if (!(found instanceof HTMLFormElement)) return;
    /** @param {AbortSignal} signal */
    const call = (signal) => ask({ name, arguments: Object.fromEntries(new FormData(found)) }, AbortSignal.any([signal, shown.signal]));
    tryOut(found, part(body, "[data-outcome]", HTMLElement), call);
    parts(found, "textarea, input:not([type=radio]), select, button", HTMLElement)[0]?.focus();
  }
  void list();
}

/** Show only the tools that contain all typed words. @param {HTMLElement} body */
function filter(body) {
  const input = body.querySelector("[data-filter]");
  if (!(input instanceof HTMLInputElement)) return;
  const tools = parts(body, "[data-tool]", HTMLElement).map((row) => ({ row, text: (row.textContent ?? "").toLowerCase() }));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const { row, text } of tools) row.hidden = !words.every((word) => text.includes(word));
    for (const group of parts(body, "[data-group]", HTMLElement)) group.hidden = !group.querySelector("[data-tool]:not([hidden])");
    const left = tools.filter(({ row }) => !row.hidden).length;
    part(body, "[data-found]", HTMLElement).textContent = input.value ? `${left} found` : "";
  });
}
