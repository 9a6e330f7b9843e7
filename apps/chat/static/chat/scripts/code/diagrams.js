/** Shows Mermaid and Vega blocks of an answer as pictures, with their source on demand. */

import { codeButton } from "./code.js";
import { colorsOfPage, forcedColors } from "./colors.js";
import { codeOf, save } from "./files.js";
import { kindOf } from "./diagram-kinds.js";
import { drawing } from "./drawings.js";
import { gettext } from "../texts.js";

/** The distance from the viewport at which a diagram is drawn. */
const AHEAD = "600px";
/** The width of a chart on paper, in pixels. */
const PAPER = 640;
/** The smallest part of its size at which a diagram can be read: its text of 14 pixels then has 11. A chart is laid out for the width that there is. */
const LEAST = { mermaid: 11 / 14, vega: 1 };
/** Milliseconds without a further change after which charts are laid out again. */
const SETTLED = 150;

const dark = matchMedia("(prefers-color-scheme: dark)");

const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLElement)) continue;
      seen.unobserve(target);
      void draw(target);
    }
  },
  { rootMargin: AHEAD },
);
/** Charts that have another width now. @type {Set<HTMLElement>} */
const resized = new Set();
let settling = 0;
/** True while the pictures have the colors and the width of paper. */
let isOnPaper = false;
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target instanceof HTMLElement) resized.add(target);
  clearTimeout(settling);
  settling = setTimeout(() => {
    if (!isOnPaper) for (const block of resized) if (block.clientWidth && block.dataset.drawn !== String(roomOf(block))) seen.observe(block);
    resized.clear();
  }, SETTLED);
});
for (const media of [dark, forcedColors]) media.addEventListener("change", drawAgain);
new MutationObserver(drawAgain).observe(document.documentElement, { attributeFilter: ["data-theme"] });

/** @param {HTMLElement[]} blocks of finished code that are diagrams */
export function showDiagrams(blocks) {
  for (const block of blocks) {
    if (!block.isConnected) continue;
    block.classList.add("diagram");
    seen.observe(block);
  }
}

/** Draw blocks that may never have been seen, in the light colors and the width of paper. After the print they return to those of the page. @param {HTMLElement[]} blocks */
export async function drawOnPaper(blocks) {
  isOnPaper = true;
  addEventListener("afterprint", leavePaper, { once: true });
  await Promise.all(
    blocks.map(async (block) => {
      block.classList.add("diagram");
      seen.unobserve(block);
      await draw(block, colorsOfPage("light"), PAPER);
      const picture = block.querySelector(".diagram-picture img");
      if (picture instanceof HTMLImageElement) await picture.decode?.().catch(() => {}); // without it, there is a gap on the paper
    }),
  );
}

function leavePaper() {
  isOnPaper = false;
  drawAgain();
}

/** The colors are part of a picture. */
function drawAgain() {
  for (const block of document.querySelectorAll(".diagram[data-drawn]")) seen.observe(block);
}

/** @param {HTMLElement} block @returns {number} the width that a picture has in it, in pixels */
function roomOf(block) {
  return block.clientWidth - 24 || PAPER;
}

/** @param {HTMLElement} block */
async function draw(block, colors = colorsOfPage(), width = roomOf(block)) {
  const kind = kindOf(block);
  if (!kind) return;
  const { svg, problem } = await drawing(kind, codeOf(block), colors, width);
  if (!block.isConnected) return;
  block.dataset.drawn = String(width);
  if (kind === "vega") sizes.observe(block);
  if (svg) showPicture(block, kind, svg);
  else showProblem(block, kind, problem ?? "");
}

/** @param {HTMLElement} block @param {"mermaid" | "vega"} kind @param {string} svg */
function showPicture(block, kind, svg) {
  const known = block.querySelector(".diagram-picture img");
  const picture = known instanceof HTMLImageElement ? known : document.createElement("img");
  const [, width = "0", height = "0"] = /^<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"/.exec(svg) ?? [];
  picture.style.setProperty("--width", `${width}px`);
  picture.style.setProperty("--ratio", String(Number(width) / Number(height)));
  picture.style.setProperty("--least", String(LEAST[kind]));
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  if (known) return;
  picture.alt = nameOf(kind, codeOf(block));
  const zoom = document.createElement("button");
  zoom.type = "button";
  zoom.className = "diagram-picture";
  zoom.dataset.zoom = "";
  zoom.append(picture);
  const frame = document.createElement("div");
  frame.className = "diagram-frame";
  frame.dir = "ltr";
  frame.append(zoom);
  block.querySelector(".code-bar")?.after(frame);
  offer(block, kind, picture);
}

/** @param {HTMLElement} block @param {"mermaid" | "vega"} kind @param {HTMLImageElement} picture */
function offer(block, kind, picture) {
  const source = codeButton("source", "code", gettext("Show the source"));
  source.setAttribute("aria-pressed", "false");
  source.addEventListener("click", () => {
    source.setAttribute("aria-pressed", String(block.toggleAttribute("data-source")));
  });
  const vector = worded(codeButton("svg", "download", gettext("Download as SVG")), "SVG");
  vector.addEventListener("click", () => save(svgOf(picture), `${kind === "vega" ? "chart" : "diagram"}.svg`, "image/svg+xml"));
  const pixels = worded(codeButton("png", "download", gettext("Download as PNG")), "PNG");
  pixels.addEventListener("click", () => void savePixels(picture, `${kind === "vega" ? "chart" : "diagram"}.png`));
  block.querySelector("[data-code=wrap]")?.remove();
  block.querySelector("[data-code=download]")?.replaceWith(source, vector, pixels);
}

/** @param {HTMLButtonElement} button @param {string} word that is seen in place of its symbol */
function worded(button, word) {
  button.querySelector(".icon")?.replaceWith(word);
  button.setAttribute("aria-label", button.title);
  button.querySelector("span")?.remove();
  return button;
}

/** @param {HTMLImageElement} picture */
function svgOf(picture) {
  return decodeURIComponent(picture.src.slice(picture.src.indexOf(",") + 1));
}

/** Rendered at twice its size, on the color of the page. @param {HTMLImageElement} picture @param {string} name */
async function savePixels(picture, name) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.min(picture.naturalWidth * 2, 8_000);
  canvas.height = Math.min(picture.naturalHeight * 2, 8_000);
  const brush = canvas.getContext("2d");
  if (!brush) return;
  brush.fillStyle = getComputedStyle(document.body).backgroundColor;
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) save(blob, name, "image/png");
}

/** @param {HTMLElement} block @param {"mermaid" | "vega"} kind @param {string} problem */
function showProblem(block, kind, problem) {
  const known = block.querySelector(".diagram-problem");
  const words = known ?? document.createElement("p");
  words.className = "diagram-problem";
  words.setAttribute("dir", "auto");
  const shown = kind === "vega" ? gettext("This chart could not be drawn, so its source is shown.") : gettext("This diagram could not be drawn, so its source is shown.");
  words.textContent = `${shown} ${causeOf(problem)}`;
  if (!known) block.querySelector(".code-bar")?.after(words);
}

/** The label for screen readers. @param {"mermaid" | "vega"} kind @param {string} text */
function nameOf(kind, text) {
  if (kind === "mermaid") {
    const title = /^\s*(?:title:?|accTitle:)\s+(.{1,150})$/m.exec(text)?.[1];
    return gettext("Diagram: {title}", { title: title ?? text.trim().split("\n", 1)[0].slice(0, 80) });
  }
  const title = /"(?:title|description)"\s*:\s*"((?:[^"\\]|\\.){1,150})"/.exec(text)?.[1];
  return title ? gettext("Chart: {title}", { title }) : gettext("Chart");
}

/** @param {string} problem from a library @returns {string} for the user */
function causeOf(problem) {
  const line = /^(?:Parse|Lexical) error on line (\d+)/.exec(problem)?.[1];
  return line ? gettext("Line {line} can’t be read.", { line }) : problem.split("\n", 1)[0];
}
