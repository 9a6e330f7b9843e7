/** Selected text of an answer can be quoted; the menu is loaded with the first selection. */

import { composer, detailOf, log } from "./parts.js";

/** @import { SelectionMenu } from "../log/selection-menu.js" */

/** Milliseconds for which a selection counts as unfinished. */
const PAUSE = 250;
/** @type {SelectionMenu | undefined} */
let menu;
let waiting = 0;

export function offerSelection() {
  document.addEventListener("selectionchange", () => {
    clearTimeout(waiting);
    if (isOfAnswer(document.getSelection())) waiting = window.setTimeout(() => void show(), PAUSE);
    else menu?.close();
  });
}

async function show() {
  const { SelectionMenu } = await import("../log/selection-menu.js");
  menu ??= made(new SelectionMenu());
  await menu.updateComplete;
  const selection = document.getSelection();
  if (selection && isOfAnswer(selection)) menu.show(selection.getRangeAt(0), selection.toString());
}

/** @param {SelectionMenu} added */
function made(added) {
  added.addEventListener("quote", (event) => {
    const before = composer.text.trimEnd();
    composer.fill(`${before}${before ? "\n\n" : ""}${detailOf(event)}`);
  });
  log.closest("main")?.append(added);
  return added;
}

/** @param {Selection | null} selection */
function isOfAnswer(selection) {
  if (!selection?.rangeCount || selection.isCollapsed || composer.ended || composer.disabled) return false;
  const { commonAncestorContainer: node } = selection.getRangeAt(0);
  const element = node instanceof Element ? node : node.parentElement;
  return log.contains(element) && element?.closest(".answer-text") !== null && selection.toString().trim() !== "";
}
