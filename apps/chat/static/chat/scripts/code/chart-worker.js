/** A worker that lays charts of Vega and Vega-Lite out for a width, and draws them as SVG. It loads nothing, and interprets expressions. */

import "./chart-canvas.js";
import { compile, expressionInterpreter, parse, View } from "../../vendor/vega.js";

const REFUSED = "A chart can only show data that stands in it.";
/** The font sizes of labels and of the title, in pixels, as on the page. */
const LABEL = 12;
const TITLE = 14;
/** Below this height, in pixels, a chart that becomes narrower keeps its height. */
const LEAST_HEIGHT = 200;
/** The least width of one of several charts next to each other, in pixels, and what its axis takes in addition, about. */
const LEAST_PART = 200;
const AXIS = 80;
/** In narrower charts, legends are below the marks. */
const NARROW = 440;
/** The angle of labels that have no room in a line, and the distance that they need then, in pixels. */
const SLANTED = -45;
const LEAST_STEP = 17;
/** The average width of short labels, such as years. If they are too close, some are left out. */
const SHORT = 40;

// Only the canvas was needed, and only while Vega was loaded.
Reflect.deleteProperty(globalThis, "document");

/** @returns {Promise<never>} */
const refuse = () => Promise.reject(new Error(REFUSED));
const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} };

addEventListener("message", async ({ data: { id, text, colors, width } }) => {
  try {
    postMessage({ id, svg: await draw(JSON.parse(text), colors, width) });
  } catch (error) {
    postMessage({ id, problem: String(/** @type {any} */ (error)?.message ?? error).slice(0, 400) });
  }
});

/** @typedef {{svg: string, width: number, angle: number | undefined}} Layout with the angle that the labels of categories need */

/** @param {any} spec @param {import("./colors.js").Colors} colors @param {number} room the width in pixels @returns {Promise<string>} */
async function draw(spec, colors, room) {
  const isWhole = /\/schema\/vega\/v/.test(spec.$schema ?? "") || Array.isArray(spec.marks);
  // Other charts consist of several ones, of which each has its own width.
  const isSingle = isWhole || ((spec.mark !== undefined || Array.isArray(spec.layer)) && !["row", "column", "facet"].some((name) => spec.encoding?.[name]));
  const config = configOf(colors, room);
  const layOut = async (/** @type {any} */ sized) => {
    if (isWhole) return laidOut(sized, config);
    const view = { continuousWidth: partOf(spec, room) };
    const level = await laidOut(compile(sized, { config: { ...config, view } }).spec);
    if (!level.angle) return level;
    // Slanted labels would be compared by their corners, which overlap.
    const axisXDiscrete = { labelAngle: level.angle, labelOverlap: level.angle !== SLANTED };
    return laidOut(compile(sized, { config: { ...config, view, axisXDiscrete } }).spec);
  };
  const titled = { ...spec, title: wrapped(spec.title, room) };
  const layout = await layOut(isSingle && !isWhole ? sized(titled, room) : titled);
  if (layout.width <= room || !isSingle || typeof spec.width !== "number") return layout.svg;
  return (await layOut(narrowed(titled, room, layout.width))).svg;
}

/** @param {any} chart of Vega @param {object} [config] @returns {Promise<Layout>} */
async function laidOut(chart, config) {
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
  const runtime = parse(chart, config, { ast: true });
  const view = new View(runtime, { expr: expressionInterpreter, loader, logger, renderer: "none" });
  const svg = await view.toSVG();
  const angle = angleFor(labelsBelow(view.scenegraph().root.items[0]));
  view.finalize();
  if (problem) throw problem;
  return { svg, width: Number(/ width="([\d.]+)"/.exec(svg)?.[1] ?? 0), angle };
}

/** Without a width of its own, a chart is as wide as the page allows. @param {any} spec @param {number} room */
function sized(spec, room) {
  const { height, ...rest } = spec;
  const kept = height === "container" ? rest : spec;
  if (spec.width !== undefined && spec.width !== "container") return kept;
  return { ...kept, width: room, autosize: { type: "fit-x", contains: "padding" } };
}

/** A chart with a width that there is no room for keeps its proportions, unless it would become too low. @param {any} spec @param {number} room @param {number} width */
function narrowed(spec, room, width) {
  if (typeof spec.height !== "number") return { ...spec, width: room, autosize: { type: "fit-x", contains: "padding" } };
  const height = Math.max(Math.min(spec.height, LEAST_HEIGHT), Math.round((spec.height * room) / width));
  return { ...spec, width: room, height, autosize: { type: "fit", contains: "padding" } };
}

/** A title has as many lines as it needs. @param {any} title @param {number} room @returns {any} */
function wrapped(title, room) {
  if (Array.isArray(title) || !title) return title;
  if (typeof title !== "string") return { ...title, text: wrapped(title.text, room) };
  const most = Math.floor(room / (TITLE * 0.6));
  /** @type {string[]} */
  const lines = [];
  for (const word of title.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** @param {any} group of the scene @returns {any[][]} the labels of each axis of categories below a chart */
function labelsBelow(group) {
  const found = [];
  for (const mark of group.items ?? []) {
    for (const item of mark.marktype === "group" ? mark.items : []) {
      if (mark.role !== "axis") found.push(...labelsBelow(item));
      else if (item.orient === "bottom") found.push(...item.items.filter((/** @type {any} */ part) => part.role === "axis-label").map((/** @type {any} */ part) => part.items));
    }
  }
  return found;
}

/** @param {any[][]} axes the labels of each, in a line @returns {number | undefined} undefined if all have room */
function angleFor(axes) {
  for (const labels of axes) {
    const line = labels.toSorted((one, other) => one.x - other.x);
    const steps = line.slice(1).map((label, at) => ({ step: label.x - line[at].x, isTight: label.bounds.x1 - line[at].bounds.x2 < LABEL / 3 }));
    const shown = line.filter(({ opacity }) => opacity !== 0);
    if (shown.length === line.length && !steps.some(({ isTight }) => isTight)) continue;
    if (Math.min(...steps.map(({ step }) => step)) >= LEAST_STEP) return SLANTED;
    const average = shown.reduce((sum, { bounds }) => sum + bounds.x2 - bounds.x1, 0) / shown.length;
    if (average > SHORT) return -90;
  }
  return undefined;
}

/** The width of a chart that is one of several. @param {any} spec @param {number} room */
function partOf({ hconcat, vconcat }, room) {
  const most = hconcat || vconcat ? room : 300 + AXIS;
  return Math.max(LEAST_PART, Math.floor(Math.min(most, room / (hconcat?.length ?? 1))) - AXIS);
}

/** @param {import("./colors.js").Colors} colors @param {number} room */
function configOf(colors, room) {
  const { ink, line, accent, series } = colors;
  const marks = ["arc", "area", "bar", "circle", "point", "rect", "square", "tick"];
  return {
    ...Object.fromEntries(marks.map((mark) => [mark, { fill: accent }])),
    background: "transparent",
    font: "system-ui, sans-serif",
    range: { category: series, heatmap: [colors["accent-soft"], accent], ordinal: [colors["accent-soft"], accent], ramp: [colors["accent-soft"], accent] },
    title: { anchor: "start", frame: "bounds", color: ink, subtitleColor: colors["ink-soft"], fontSize: TITLE, subtitleFontSize: LABEL },
    style: { "guide-label": { fill: colors["ink-soft"], fontSize: LABEL }, "guide-title": { fill: ink, fontSize: LABEL }, cell: { stroke: line } },
    line: { stroke: accent },
    rule: { stroke: ink },
    trail: { fill: accent },
    text: { fill: ink },
    axis: { domainColor: line, gridColor: line, tickColor: line, labelSeparation: LABEL / 2 },
    axisXDiscrete: { labelAngle: 0, labelOverlap: true },
    ...(room < NARROW ? { legend: { orient: "bottom", columns: Math.max(1, Math.floor(room / 120)) } } : {}),
  };
}
