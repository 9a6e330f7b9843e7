// What makes trying a tool quicker; everything works without it.

import { render, tryOut } from "./tool-trial.js";

const root = document.querySelector(".workbench");
const form = root?.querySelector("form[data-try]");
if (form) {
  tryOut(form, document.querySelector("[data-outcome]"), (signal) =>
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

function filter(place) {
  if (!place) return;
  place.hidden = false;
  const found = place.querySelector("[data-found]");
  const tools = [...document.querySelectorAll("[data-tool]")];
  place.querySelector("input").addEventListener("input", ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    for (const tool of tools) {
      const text = tool.dataset.tool.toLowerCase();
      tool.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = !group.querySelector("[data-tool]:not([hidden])");
    }
    const left = tools.filter((tool) => !tool.hidden).length;
    found.textContent = target.value ? `${left} found` : "";
  });
}
