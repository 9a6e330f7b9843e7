/** Runs after the page has painted its changes. @param {() => void} act */
export function afterPainting(act) {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
