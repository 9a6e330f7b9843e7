// What makes trying a tool quicker; everything works without it.

import { part, parts } from "./parts.js";
import { render, tryOut } from "./tool-trial.js";

const root = document.querySelector(".workbench");
const form = root?.querySelector("form[data-try]");
if (form instanceof HTMLFormElement) {
  tryOut(form, part(document, "[data-outcome]", HTMLElement), (signal) =>
    fetch(form.action, {
      method: "POST",
      body: new FormData(form),
      headers: { "X-Fragment": "1" },
      redirect: "error",
      signal,
    }),
  );
}
if (root) void render(root);
filter(root?.querySelector("[data-filter]"));

/** @param {Element | null | undefined} place */
function filter(place) {
  if (!(place instanceof HTMLElement)) return;
  place.hidden = false;
  const found = part(place, "[data-found]", HTMLElement);
  const tools = parts(document, "[data-tool]", HTMLElement);
  const input = part(place, "input", HTMLInputElement);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const tool of tools) {
      const text = tool.dataset.tool?.toLowerCase() ?? "";
      tool.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of parts(document, "[data-group]", HTMLElement)) {
      group.hidden = !group.querySelector("[data-tool]:not([hidden])");
    }
    const left = tools.filter((tool) => !tool.hidden).length;
    found.textContent = input.value ? `${left} found` : "";
  });
}
