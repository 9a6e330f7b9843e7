/** A worker that draws Vega and Vega-Lite charts as SVG. It loads nothing, and interprets expressions. */

import { compile, expressionInterpreter, parse, View } from "../../vendor/vega.js";

const WIDTH = 560;
const REFUSED = "A chart can only show data that stands in it.";

/** @returns {Promise<never>} */
const refuse = () => Promise.reject(new Error(REFUSED));
const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} };

addEventListener("message", async ({ data: { id, text, colors } }) => {
  try {
    postMessage({ id, svg: await draw(JSON.parse(text), colors) });
  } catch (error) {
    postMessage({ id, problem: String(/** @type {any} */ (error)?.message ?? error).slice(0, 400) });
  }
});

/** @param {any} spec @param {import("./colors.js").Colors} colors @returns {Promise<string>} */
async function draw(spec, colors) {
  const isWhole = /\/schema\/vega\/v/.test(spec.$schema ?? "") || Array.isArray(spec.marks);
  const config = configOf(colors);
  const chart = isWhole ? spec : compile(sized(spec), { config }).spec;
  /** @type {Error | undefined} */
  let problem;
  const logger = {
    level: () => logger,
    /** @param {unknown[]} words */
    warn: (...words) => {
      if (words[0] === "Loading failed") problem ??= new Error(REFUSED);
      return logger;
    },
    info: () => logger,
    debug: () => logger,
    /** @param {any} error */
    error: (error) => {
      problem ??= error instanceof Error ? error : new Error(String(error));
      return logger;
    },
  };
  const runtime = parse(chart, isWhole ? config : undefined, { ast: true });
  const view = new View(runtime, { expr: expressionInterpreter, loader, logger, renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  if (problem) throw problem;
  return svg;
}

/** A worker has no container that defines the width. @param {any} spec */
function sized(spec) {
  const isSimple = spec.mark !== undefined || Array.isArray(spec.layer);
  if (spec.width === "container" || (isSimple && spec.width === undefined && !spec.encoding?.column)) return { ...spec, width: WIDTH };
  return spec;
}

/** @param {import("./colors.js").Colors} colors */
function configOf(colors) {
  const { ink, line, accent, series } = colors;
  const marks = ["arc", "area", "bar", "circle", "point", "rect", "square", "tick"];
  return {
    ...Object.fromEntries(marks.map((mark) => [mark, { fill: accent }])),
    background: "transparent",
    font: "system-ui, sans-serif",
    range: { category: series, heatmap: [colors["accent-soft"], accent], ordinal: [colors["accent-soft"], accent], ramp: [colors["accent-soft"], accent] },
    title: { color: ink, subtitleColor: colors["ink-soft"] },
    style: { "guide-label": { fill: colors["ink-soft"] }, "guide-title": { fill: ink }, cell: { stroke: line } },
    line: { stroke: accent },
    rule: { stroke: ink },
    trail: { fill: accent },
    text: { fill: ink },
    axis: { domainColor: line, gridColor: line, tickColor: line },
  };
}
