// Shows the fields for the selected starting point, the slug derived from the title, and the
// templates that match a search.

import { offerChoiceFields } from "../../chat/scripts/choice-fields.js";
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

/** @param {HTMLInputElement} query @param {HTMLElement} none */
function showMatching(query, none) {
  const words = query.value.toLocaleLowerCase().split(/\s+/);
  const cards = parts(document, "[data-template]", HTMLElement);
  for (const card of cards) {
    const text = (card.textContent ?? "").toLocaleLowerCase();
    card.hidden = !words.every((word) => text.includes(word));
  }
  none.hidden = cards.some((card) => !card.hidden);
}

const query = document.querySelector("#template-query");
if (query instanceof HTMLInputElement) {
  const none = part(document, "[data-none]", HTMLElement);
  query.addEventListener("input", () => showMatching(query, none));
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // Enter would select the first template.
  });
}

offerChoiceFields();
form.addEventListener("change", showChosen);
title.addEventListener("input", () => {
  clearTimeout(settling);
  settling = setTimeout(proposeSlug, SETTLE_MS);
});
showChosen();
