/** Fade in new blocks. The last block is redrawn with each word, so this animates elements rather than styles. */

const DURATION = 120;
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {ChildNode[]} nodes of the block as it is drawn now @param {number} age milliseconds since its first word */
export function fadeIn(nodes, age) {
  if (age >= DURATION || still.matches) return;
  for (const node of nodes) {
    if (!(node instanceof HTMLElement)) continue;
    const fading = node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: DURATION, easing: "ease-out" });
    fading.currentTime = age;
  }
}
