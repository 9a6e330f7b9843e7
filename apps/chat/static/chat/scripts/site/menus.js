/** Menus next to the button that opens them. They stay inside the window, close after a selection, and return the focus. */

import { placeBeside } from "../placing.js";

const ENTRY = "a[href], button, input, select";

for (const menu of document.querySelectorAll("[popover][data-menu]")) {
  if (menu instanceof HTMLElement) wire(menu);
}

/** @param {HTMLElement} menu */
function wire(menu) {
  menu.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") open(menu);
  });
  menu.addEventListener("click", ({ target }) => {
    const entry = target instanceof Element ? target.closest("a, button") : null;
    if (entry && entry.role !== "switch") menu.hidePopover();
  });
  menu.addEventListener("keydown", (event) => press(menu, event));
  addEventListener("resize", () => menu.matches(":popover-open") && place(menu));
}

/** @param {HTMLElement} menu */
function open(menu) {
  place(menu);
  if (!menu.contains(document.activeElement)) entriesOf(menu)[0]?.focus({ focusVisible: opener(menu)?.matches(":focus-visible") });
}

/** @param {HTMLElement} menu @param {KeyboardEvent} event */
function press(menu, event) {
  const entries = entriesOf(menu);
  const focused = document.activeElement;
  const at = entries.indexOf(/** @type {HTMLElement} */ (focused));
  /** @type {Record<string, number>} */
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  // In a list or among options, arrow keys select.
  if (!(event.key in moves) || (focused instanceof Element && focused.matches("select, [type=radio]"))) return;
  event.preventDefault();
  entries.at(moves[event.key] % entries.length)?.focus();
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
function entriesOf(menu) {
  const found = [...menu.querySelectorAll(ENTRY)].filter((entry) => entry instanceof HTMLElement);
  return found.filter((entry) => entry.checkVisibility() && !(entry instanceof HTMLInputElement && entry.type === "radio" && !entry.checked));
}

/** @param {HTMLElement} menu @returns {HTMLElement | null} */
function opener(menu) {
  return document.querySelector(`[popovertarget="${menu.id}"]`);
}

/** @param {HTMLElement} menu */
function place(menu) {
  const beside = opener(menu);
  if (beside) placeBeside(menu, beside);
}
