/** The search over applications on the first page: cards without the words are hidden. */

export function filterApplications() {
  const field = document.getElementById("application-query");
  if (!(field instanceof HTMLInputElement)) return;
  field.addEventListener("input", () => filter(field.value));
  filter(field.value); // a browser may have filled it in
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
