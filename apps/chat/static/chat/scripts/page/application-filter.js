/** Filters the applications on the home page: cards without the search words are hidden. */

export function filterApplications() {
  const field = document.getElementById("application-query");
  if (!(field instanceof HTMLInputElement)) return;
  field.addEventListener("input", () => filter(field.value));
  filter(field.value); // The browser may have restored the value.
}

/** @param {string} query */
function filter(query) {
  const cards = [...document.querySelectorAll(".card")].filter((card) => card instanceof HTMLElement);
  const none = document.getElementById("no-application");
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards) {
    const text = card.textContent?.toLocaleLowerCase() ?? "";
    card.hidden = !words.every((word) => text.includes(word));
  }
  for (const list of document.querySelectorAll(".applications")) {
    if (list instanceof HTMLElement) list.hidden = !list.querySelector(".card:not([hidden])");
  }
  if (none) none.hidden = cards.some((card) => !card.hidden);
}
