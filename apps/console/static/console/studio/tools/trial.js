// Trying the tools of a toolset of the draft, in a dialog: the list, one tool's form, and its report.

import { button, element, newId } from "../elements.js";
import { render, tryOut } from "../../tool-trial.js";

export function openTrial(store, index, title) {
  const id = newId("trial");
  const body = element("div", { class: "workbench studio-trial" });
  const back = button("Back to its tools", () => list(), { hidden: true });
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
  document.querySelector("[data-studio]").append(dialog);
  dialog.showModal();

  const ask = (more, signal = waiting.signal) => store.send("trial", { ...store.current, place: String(index), ...more }, signal);
  async function show(more) {
    body.replaceChildren(element("p", { role: "status" }, "Opening the toolset…"));
    back.hidden = !more.name;
    try {
      const response = await ask(more);
      if (!response.ok) throw new Error((await response.json().catch(() => ({}))).message ?? `The toolset could not be opened (status ${response.status}).`);
      body.innerHTML = await response.text();
      await render(body);
    } catch (error) {
      if (error.name !== "AbortError") body.replaceChildren(element("p", { role: "alert", class: "studio-error" }, error.message));
    }
  }
  async function list() {
    await show({});
    for (const one of body.querySelectorAll("[data-name]")) one.addEventListener("click", () => form(one.dataset.name));
    body.querySelector("[data-name]")?.focus();
  }
  async function form(name) {
    await show({ name });
    const found = body.querySelector("form[data-try]");
    if (!found) return;
    const call = (signal) => ask({ name, arguments: Object.fromEntries(new FormData(found)) }, signal);
    tryOut(found, body.querySelector("[data-outcome]"), call);
    found.querySelector("textarea, input:not([type=radio]), select, button")?.focus();
  }
  void list();
}
