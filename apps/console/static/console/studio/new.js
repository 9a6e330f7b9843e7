// Shows what belongs to the chosen beginning, and the name in addresses that the title will make.

import { part, parts } from "../parts.js";

const form = part(document, "[data-new]", HTMLFormElement);
const title = part(form, "[name=title]", HTMLInputElement);
const slug = part(form, "[name=slug]", HTMLInputElement);

function showChosen() {
  const chosen = new FormData(form).get("start");
  for (const one of parts(form, "[data-start]", HTMLElement)) one.hidden = one.dataset.start !== chosen;
}

/** @param {string} title */
const slugOf = (title) =>
  title
    .normalize("NFKD")
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[-\s_]+/g, "-")
    .slice(0, 40);

form.addEventListener("change", showChosen);
title.addEventListener("input", () => {
  slug.placeholder = slugOf(title.value);
});
showChosen();
