/** What a number in an answer stands for, in a card at the number while it is pointed at or has the focus. */

/** None, so that the pointer can go into the card. */
const GAP = 0;

/** @type {HTMLElement | null} */
let card = null;
/** @type {HTMLElement | null} the number whose card is shown */
let shown = null;

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, ({ target }) => {
  const place = target instanceof Element ? target : null;
  const mark = place?.closest(".citation");
  if (mark instanceof HTMLElement) show(mark);
  // A pointer that only lies somewhere does not take the card from the keyboard.
  else if (!place?.closest(".citation-card") && shown !== document.activeElement) hide();
});
document.addEventListener("focusout", hide);
document.addEventListener("scroll", () => shown && card && place(card, shown.getBoundingClientRect()), { capture: true, passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !shown) return;
  event.preventDefault(); // the answer goes on
  hide();
}, { capture: true });

/** @param {HTMLElement} mark */
function show(mark) {
  if (mark === shown || !mark.dataset.title) return;
  hide();
  shown = mark;
  card = document.createElement("div");
  card.className = "citation-card";
  card.id = "citation-card";
  card.setAttribute("role", "tooltip");
  for (const [kind, words] of Object.entries({ title: mark.dataset.title, quote: mark.dataset.quote, host: mark.dataset.host })) {
    if (!words) continue;
    const line = document.createElement("p");
    line.className = `citation-${kind}`;
    line.dir = "auto";
    line.textContent = words;
    card.append(line);
  }
  mark.setAttribute("aria-describedby", card.id);
  (mark.closest("main, dialog") ?? document.body).append(card);
  place(card, mark.getBoundingClientRect());
}

/** Above the number, or below where there is no room. @param {HTMLElement} element @param {DOMRect} at */
function place(element, at) {
  const { width, height } = element.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - width / 2), document.documentElement.clientWidth - width - 8);
  const top = at.top - height - GAP < 8 ? at.bottom + GAP : at.top - height - GAP;
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}

function hide() {
  shown?.removeAttribute("aria-describedby");
  card?.remove();
  card = shown = null;
}
