/** Once the page has shown what it was told. @param {() => void} act */
export function afterPainting(act) {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
