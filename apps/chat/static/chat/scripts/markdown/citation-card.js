/** The source of a citation number, in a card that is shown while the number is hovered or has the focus. */

/** No gap, so that the pointer can move into the card. */
const GAP = 0;

/** @type {HTMLElement | null} */
let card = null;
/** @type {HTMLElement | null} the number whose card is shown */
let shown = null;

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, ({ target }) => {
  const place = target instanceof Element ? target : null;
  const mark = place?.closest(".citation");
  if (mark instanceof HTMLElement) show(mark);
  // A resting pointer does not close a card that the keyboard opened.
  else if (!place?.closest(".citation-card") && shown !== document.activeElement) hide();
});
document.addEventListener("focusout", hide);
document.addEventListener("scroll", () => shown && card && place(card, shown.getBoundingClientRect()), { capture: true, passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !shown) return;
  event.preventDefault(); // Otherwise, it would stop the answer.
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

/** Above the number, or below it if there is no room. @param {HTMLElement} element @param {DOMRect} at */
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
