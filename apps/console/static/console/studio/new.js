// Shows what belongs to the chosen beginning, and the name in addresses that the title will make.

import { part, parts } from "../parts.js";
import { fetchJson } from "./store.js";

const SETTLE_MS = 300;

const form = part(document, "[data-new]", HTMLFormElement);
const title = part(form, "[name=title]", HTMLInputElement);
const slug = part(form, "[name=slug]", HTMLInputElement);
let settling = 0;

function showChosen() {
  const chosen = new FormData(form).get("start");
  for (const one of parts(form, "[data-start]", HTMLElement)) one.hidden = one.dataset.start !== chosen;
}

async function proposeSlug() {
  const typed = title.value;
  const found = await fetchJson(`${form.dataset.slugs}?${new URLSearchParams({ title: typed })}`).catch(() => ({ slug: "" }));
  if (title.value === typed) slug.placeholder = found.slug;
}

form.addEventListener("change", showChosen);
title.addEventListener("input", () => {
  clearTimeout(settling);
  settling = setTimeout(proposeSlug, SETTLE_MS);
});
showChosen();
