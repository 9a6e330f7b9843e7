/** Lets Vega measure text in a worker: while it loads, it looks for the canvas of a document. */

if (typeof OffscreenCanvas !== "undefined") {
  Object.assign(globalThis, { document: { createElement: () => new OffscreenCanvas(1, 1) } });
}
