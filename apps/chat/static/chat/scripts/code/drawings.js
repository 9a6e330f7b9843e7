/** Draws diagrams in a frame without an origin, and charts in a worker. Both start with the first request. */

import { gettext } from "../texts.js";

/** @typedef {{svg?: string, problem?: string}} Drawing either a picture, or why there is none */
/** @typedef {{id: number, text: string, colors: import("./colors.js").Colors, width: number}} Asked */

const MOST_CHARACTERS = { mermaid: 20_000, vega: 200_000 };
const MOST_SVG = 2_000_000;
const PATIENCE = 15_000;
const TOO_LONG = gettext("The diagram took too long to render.");

let lastId = 0;
/** @type {Map<string, Promise<Drawing>>} finished drawings, so that a text that is rendered again does not flicker */
const drawn = new Map();
const MOST_KEPT = 60;

/**
 * @param {"mermaid" | "vega"} kind @param {string} text @param {import("./colors.js").Colors} colors
 * @param {number} width that a chart has, in pixels; a diagram has its own @returns {Promise<Drawing>}
 */
export function drawing(kind, text, colors, width) {
  const key = `${kind} ${kind === "vega" ? width : ""} ${colors.paper} ${colors.ink} ${text}`;
  const known = drawn.get(key);
  if (known) return known;
  if (text.length > MOST_CHARACTERS[kind]) return Promise.resolve({ problem: gettext("The source is too large to draw.") });
  const made = queues[kind].add({ id: ++lastId, text, colors, width });
  drawn.set(key, made);
  if (drawn.size > MOST_KEPT) drawn.delete(drawn.keys().next().value ?? "");
  return made;
}

/** Draws one at a time. After a timeout, its frame or worker is discarded. */
class DrawingQueue {
  #open;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  /** @type {Promise<Drawer> | null} */
  #drawer = null;

  /** @param {() => Promise<Drawer>} open */
  constructor(open) {
    this.#open = open;
  }

  /** @param {Asked} asked @returns {Promise<Drawing>} */
  add(asked) {
    const made = this.#last.then(() => this.#draw(asked));
    this.#last = made;
    return made;
  }

  /** @param {Asked} asked @returns {Promise<Drawing>} */
  async #draw(asked) {
    try {
      this.#drawer ??= this.#open();
      const drawer = await this.#drawer;
      const made = await inTime(drawer.draw(asked));
      if (made) return (made.svg?.length ?? 0) > MOST_SVG ? { problem: gettext("The resulting image is too large.") } : made;
      drawer.end();
      this.#drawer = null;
      return { problem: TOO_LONG };
    } catch {
      this.#drawer = null;
      return { problem: gettext("The diagram viewer could not be loaded. Check your connection and reload the page.") };
    }
  }
}

const queues = { mermaid: new DrawingQueue(openFrame), vega: new DrawingQueue(openWorker) };

/** @typedef {{draw: (asked: Asked) => Promise<Drawing>, end: () => void}} Drawer */

/** @returns {Promise<Drawer>} */
async function openFrame() {
  const frame = document.createElement("iframe");
  frame.className = "drawing-frame";
  frame.title = gettext("Diagram renderer");
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = "/frames/diagram/";
  const ready = heard((event) => event.source === frame.contentWindow && event.data === "ready");
  document.body.append(frame);
  if (!(await inTime(ready))) {
    frame.remove();
    throw new Error(TOO_LONG);
  }
  return {
    draw(asked) {
      const made = heard(({ source, data }) => source === frame.contentWindow && data?.id === asked.id);
      // A frame without an origin has no other target origin.
      frame.contentWindow?.postMessage(asked, "*");
      return made.then(({ data }) => drawingOf(data));
    },
    end: () => frame.remove(),
  };
}

/** @returns {Promise<Drawer>} */
async function openWorker() {
  // Resolved by folder, because a bundle is in a different folder.
  const worker = new Worker(new URL("./chart-worker.js", import.meta.url), { type: "module" });
  return {
    draw: (asked) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(drawingOf(data));
        worker.onerror = reject;
        worker.postMessage(asked);
      }),
    end: () => worker.terminate(),
  };
}

/** The result is untrusted. @param {any} data @returns {Drawing} */
function drawingOf({ svg, problem }) {
  return typeof svg === "string" ? { svg } : { problem: String(problem) };
}

/** @param {(event: MessageEvent) => boolean} isIt @returns {Promise<MessageEvent>} */
function heard(isIt) {
  return new Promise((resolve) => {
    const done = new AbortController();
    const take = (/** @type {MessageEvent} */ event) => {
      if (!isIt(event)) return;
      done.abort();
      resolve(event);
    };
    addEventListener("message", take, { signal: done.signal });
    setTimeout(() => done.abort(), PATIENCE * 2);
  });
}

/** @template T @param {Promise<T>} wanted @returns {Promise<T | null>} null if it takes too long */
function inTime(wanted) {
  return Promise.race([wanted, new Promise((resolve) => setTimeout(() => resolve(null), PATIENCE))]);
}
