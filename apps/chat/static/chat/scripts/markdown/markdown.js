/**
 * Markdown that arrives in pieces. Finished blocks stay, and only the tail is parsed again.
 *
 * The whole text is parsed once more at the end, because a link's URL or a loose list may affect
 * blocks that looked finished.
 */

import { fadeIn } from "./fading.js";
import { colourCode, frameCode, useCode } from "../code/code.js";
import { showCitations } from "./citations.js";
import { kindOf } from "../code/diagram-kinds.js";
import { showFootnotes } from "./footnotes.js";
import { growingBlock } from "./growing.js";
import { showFormulas } from "./maths.js";
import { followFootnote } from "./markdown-footnotes.js";
import { showNotes } from "./note-links.js";
import "./pictures.js";
import { blocksOf, elementsOf, htmlOf, Outline } from "./safe.js";
import { dressTables, useTable } from "./table-buttons.js";
import { closeEmphasis } from "./unfinished.js";

/**
 * @import { Annotation } from "./citations.js"
 * @import { Growing } from "./growing.js"
 * @import { Token } from "./safe.js"
 * @import { Source } from "../files/sources.js"
 */

/** Blocks whose last words may be emphasized. */
const WORDS = ["paragraph", "heading", "list", "blockquote"];
/** A slow tail is redrawn at intervals of this many times its drawing time. */
const PAUSE_FACTOR = 4;

export class MarkdownText extends HTMLElement {
  #text = "";
  #complete = false;
  #frame = 0;
  #notBefore = 0;
  /** The length of the text that is drawn for good, and the HTML from which it was drawn. */
  #kept = 0;
  #keptHtml = "";
  /** Raw HTML may span several blocks. */
  #spansBlocks = false;
  #outline = new Outline();
  /** @type {Annotation[]} */
  #annotations = [];
  /** @type {Source[]} */
  #sources = [];
  /** @type {ChildNode[]} */
  #tail = [];
  /** The position of the last block in the text, and the time of its arrival. */
  #begin = -1;
  #begunAt = 0;
  /** @type {Growing | null} the tail, if it is one long block */
  #growing = null;

  constructor() {
    super();
    this.addEventListener("click", useCode);
    this.addEventListener("click", useTable);
    this.addEventListener("click", followFootnote);
  }

  connectedCallback() {
    this.dir ||= "auto";
    this.#draw(); // The first token does not wait for a frame.
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  /** All Markdown so far. @param {string} given */
  set text(given) {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given;
    if (text === this.#text) return;
    if (!text.startsWith(this.#text)) this.#clear();
    this.#text = text;
    this.#complete = false;
    this.#schedule();
  }

  /** The sources of the anchors in the text. @param {Annotation[]} annotations */
  set annotations(annotations) {
    this.#annotations = annotations;
    showCitations(this, annotations);
  }

  /** The sources of the numbers in brackets. @param {Source[]} sources */
  set sources(sources) {
    if (JSON.stringify(sources) === JSON.stringify(this.#sources)) return;
    this.#sources = sources;
    this.#clear();
    this.#notBefore = 0;
    this.#schedule();
  }

  /** True if the text is complete; set it after the text. @param {boolean} complete */
  set complete(complete) {
    if (complete === this.#complete) return;
    this.#complete = complete;
    this.#schedule();
  }

  #schedule() {
    if (!this.isConnected) return;
    if (this.#complete) this.#draw(); // Draw immediately, so that content below does not move a frame later.
    else this.#frame ||= requestAnimationFrame((now) => this.#drawLater(now));
  }

  /** @param {number} now */
  #drawLater(now) {
    this.#frame = 0;
    if (now < this.#notBefore) this.#schedule();
    else this.#draw();
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#complete) this.#drawEnd();
    else this.#drawTail();
    if (this.#annotations.length) showCitations(this, this.#annotations);
  }

  #drawTail() {
    const started = performance.now();
    const tail = this.#text.slice(this.#kept);
    if (!this.#growing?.grow(tail)) this.#drawTailAnew(tail);
    this.#notBefore = started + (performance.now() - started) * PAUSE_FACTOR;
  }

  /** @param {string} tail */
  #drawTailAnew(tail) {
    const blocks = blocksOf(tail);
    const finished = countFinished(blocks, tail.length);
    const open = blocks.slice(finished);
    this.#removeTail();
    this.#keep(blocks.slice(0, finished));
    /** @param {string} html */
    const render = (html) => this.#elements(html, this.#outline.copy());
    const rest = render(htmlOf(closeLast(open)));
    frameCode(rest, false);
    this.#tail = [...rest.childNodes];
    this.append(rest);
    this.#fadeIn();
    this.#growing = growingBlock(open, this.#tail, (text) => render(htmlOf(closeLast(blocksOf(text)))));
    this.#growing?.grow(this.#text.slice(this.#kept));
  }

  #fadeIn() {
    const now = performance.now();
    if (this.#begin !== this.#kept) this.#begunAt = now;
    this.#begin = this.#kept;
    fadeIn(this.#tail, now - this.#begunAt);
  }

  #drawEnd() {
    const whole = htmlOf(blocksOf(this.#text));
    const tail = blocksOf(this.#text.slice(this.#kept));
    if (this.#spansBlocks || this.#keptHtml + htmlOf(tail) !== whole) {
      this.#forget();
      this.replaceChildren(finish(this.#elements(whole, new Outline())));
      return;
    }
    this.#removeTail();
    this.#keep(tail);
  }

  /** @param {Token[]} blocks that will not change any more */
  #keep(blocks) {
    if (!blocks.length) return;
    const html = htmlOf(blocks);
    this.#kept += blocks.reduce((length, { raw }) => length + raw.length, 0);
    this.#keptHtml += html;
    this.#spansBlocks ||= blocks.some(({ type }) => type === "html");
    this.append(finish(this.#elements(html, this.#outline)));
  }

  /** @param {string} html @param {Outline} outline */
  #elements(html, outline) {
    const fragment = elementsOf(html, outline);
    showFootnotes(fragment, this.#sources);
    return fragment;
  }

  #removeTail() {
    for (const node of this.#tail) node.remove();
    this.#tail = [];
    this.#growing = null;
  }

  #forget() {
    this.#kept = 0;
    this.#keptHtml = "";
    this.#spansBlocks = false;
    this.#outline = new Outline();
    this.#tail = [];
    this.#growing = null;
  }

  #clear() {
    this.#forget();
    this.replaceChildren();
  }
}
customElements.define("markdown-text", MarkdownText);

/** The blocks, with the emphasis closed that the last one leaves open. @param {Token[]} blocks @returns {Token[]} */
function closeLast(blocks) {
  const at = blocks.findLastIndex(({ type }) => type !== "space");
  if (!WORDS.includes(blocks[at]?.type)) return blocks;
  const { raw } = blocks[at];
  const closed = closeEmphasis(raw);
  return closed === raw ? blocks : [...blocks.slice(0, at), ...blocksOf(closed)];
}

/**
 * @param {Token[]} blocks
 * @param {number} length of the text that they were read from
 * @returns {number} how many of them cannot change any more: all before the last one
 */
function countFinished(blocks, length) {
  const covered = blocks.reduce((sum, { raw }) => sum + raw.length, 0);
  if (covered !== length) return 0;
  return Math.max(0, blocks.findLastIndex(({ type }) => type !== "space"));
}

/** @param {DocumentFragment} fragment whose code and formulas are complete */
function finish(fragment) {
  frameCode(fragment, true);
  dressTables(fragment);
  void colourCode(fragment);
  void drawDiagrams(fragment);
  void showFormulas(fragment);
  void showNotes(fragment);
  return fragment;
}

/** @param {DocumentFragment} fragment that is about to be put into the page */
async function drawDiagrams(fragment) {
  const blocks = [...fragment.querySelectorAll(".code")].filter((block) => block instanceof HTMLElement).filter(kindOf);
  if (!blocks.length) return;
  const { showDiagrams } = await import("../code/diagrams.js");
  showDiagrams(blocks);
}
