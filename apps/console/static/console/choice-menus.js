// Lists of values that filter a page (`.console-choice`): arrow keys, Home and End move between the values, and Escape, a
// click and the focus outside close the list.

/** @param {Element | null} list */
const isList = (list) => list instanceof HTMLDetailsElement && list.matches(".console-choice");

for (const kind of ["click", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    for (const list of document.querySelectorAll(".console-choice[open]")) {
      if (target instanceof Node && !list.contains(target)) list.removeAttribute("open");
    }
  });
}

document.addEventListener("keydown", (event) => {
  const focused = document.activeElement;
  const around = focused?.closest("details") ?? null;
  const list = isList(around) ? around : document.querySelector(".console-choice[open]");
  if (!(list instanceof HTMLDetailsElement)) return;
  if (event.key === "Escape" && list.open) {
    list.open = false;
    list.querySelector("summary")?.focus();
  } else if (list === around) move(event, list, focused);
});

/** @param {KeyboardEvent} event @param {HTMLDetailsElement} list @param {Element | null} focused */
function move(event, list, focused) {
  /** @type {(Element & HTMLOrSVGElement)[]} */
  const links = [...list.querySelectorAll("a")];
  const at = links.findIndex((one) => one.isSameNode(focused));
  /** @type {Record<string, number>} */
  const moves = { ArrowDown: at + 1, ArrowUp: Math.max(at, 0) - 1, Home: 0, End: -1 };
  const isOpening = !list.open && event.key === "ArrowDown";
  if (!(event.key in moves) || !(list.open || isOpening)) return;
  event.preventDefault();
  list.open = true;
  const chosen = links.find((one) => one.hasAttribute("aria-current"));
  const next = isOpening && chosen ? chosen : links.at(moves[event.key] % links.length);
  next?.focus();
}
