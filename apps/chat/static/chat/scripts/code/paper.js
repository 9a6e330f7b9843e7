/** Diagrams are pictures on paper, too: diagrams that were never in sight are drawn before the print dialog opens. */

import { kindOf } from "./diagram-kinds.js";

/** Milliseconds after which the page is printed with the diagrams that are drawn by then. */
const PATIENCE = 20_000;

/** In a conversation, call `print` for Ctrl+P, because the browser would not wait for the diagrams. @param {() => void} print */
export function offerPaper(print) {
  addEventListener("keydown", (event) => {
    if (event.key?.toLowerCase() !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    if (!document.querySelector(".turn")) return;
    event.preventDefault();
    print();
  });
}

export async function drawForPaper() {
  const blocks = [...document.querySelectorAll(".code")].filter((block) => block instanceof HTMLElement).filter(kindOf);
  if (!blocks.length) return;
  const { drawOnPaper } = await import("./diagrams.js");
  await Promise.race([drawOnPaper(blocks), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}
