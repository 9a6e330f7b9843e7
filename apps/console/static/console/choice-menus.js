// Lists of values that filter a page (`.console-choice`): arrow keys, Home and End move between the values, and Escape, a
// click and the focus outside close the list. Long lists have a search.

/** A list with more values has a search. */
const SEARCHED = 12;
const MARGIN = 16;

/** @param {Element | null} list */
const isList = (list) => list instanceof HTMLDetailsElement && list.matches(".console-choice");

for (const kind of ["click", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    for (const list of document.querySelectorAll(".console-choice[open]")) {
      if (target instanceof Node && !list.contains(target)) list.removeAttribute("open");
    }
  });
}

// The event does not bubble.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement && isList(target) && target.open)) return;
    addSearch(target);
    keepOnPage(target);
  },
  true,
);

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

/** @param {HTMLDetailsElement} list @returns {(HTMLElement)[]} the values that the search leaves */
function shown(list) {
  return [...list.querySelectorAll("a")].filter((link) => !link.parentElement?.hidden);
}

/** @param {KeyboardEvent} event @param {HTMLDetailsElement} list @param {Element | null} focused */
function move(event, list, focused) {
  const links = shown(list);
  const isTyped = focused instanceof HTMLInputElement;
  if (!links.length || (isTyped && event.key !== "ArrowDown" && event.key !== "Enter")) return;
  if (isTyped && event.key === "Enter") {
    links[0].click();
    return;
  }
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

/** @param {HTMLDetailsElement} list which moves if it would stick out of the page */
function keepOnPage(list) {
  const opened = list.querySelector(":scope > :not(summary)");
  if (!(opened instanceof HTMLElement)) return;
  opened.style.translate = "";
  const { left, right } = opened.getBoundingClientRect();
  const end = document.documentElement.clientWidth - MARGIN;
  const moved = Math.min(end - right, 0) || Math.max(MARGIN - left, 0);
  if (moved) opened.style.translate = `${moved}px`;
}

/** @param {HTMLDetailsElement} list */
function addSearch(list) {
  const values = list.querySelector("ul");
  if (!values || values.children.length <= SEARCHED || list.querySelector("input")) return;
  const input = document.createElement("input");
  input.type = "search";
  input.autocomplete = "off";
  input.placeholder = "Search";
  input.setAttribute("aria-label", `Search: ${list.querySelector(".choice-label")?.textContent}`);
  input.addEventListener("input", () => {
    const asked = input.value.trim().toLocaleLowerCase();
    for (const link of list.querySelectorAll("a")) {
      const found = link.textContent.toLocaleLowerCase().includes(asked);
      if (link.parentElement) link.parentElement.hidden = !found;
    }
  });
  const row = document.createElement("li");
  row.className = "choice-search";
  row.append(input);
  values.prepend(row);
  input.focus();
}
