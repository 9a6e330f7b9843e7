/** Announces the sentences of an answer as they arrive, for screen readers. Code and tables are named, not read. */

import { preference } from "../preferences.js";
import { blocksOf } from "../markdown/safe.js";
import { gettext } from "../texts.js";

/**
 * @import { Event } from "../session/frames.js"
 * @import { Token } from "../markdown/safe.js"
 */

/** The number of sentences in the region, because screen readers still read earlier ones. */
const MOST = 30;
const FENCE = /^\s*(`{3,}|~{3,})/;
const ROW = /^\s*\|/;
/** Emphasis that began or ends in another sentence. */
const SIGNS = /^[\s*_~]+|[\s*_~]+$/g;
const WORD = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/u;
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

export class SpokenAnswer {
  #region;
  /** The incomplete sentence so far. */
  #rest = "";
  /** The skipped block: the fence that ends it, or "|" for a table. */
  #skipped = "";

  /** @param {HTMLElement} region a live region, in which only additions are read */
  constructor(region) {
    this.#region = region;
  }

  /** @param {Event} event that has just happened */
  take(event) {
    if (preference("spoken") === "off") return;
    if (event.type === "message.delta") this.#add(event.text);
    else if (event.type === "run.status" && event.status !== "running" && event.status !== "queued") this.#end();
  }

  /** Another conversation is shown. */
  clear() {
    this.#rest = this.#skipped = "";
    this.#region.replaceChildren();
  }

  /** @param {string} text */
  #add(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    if (this.#skipped || FENCE.test(this.#rest) || ROW.test(this.#rest)) return;
    const parts = [...sentences.segment(this.#rest)].map(({ segment }) => segment);
    const last = parts.pop() ?? "";
    const over = parts.join("");
    if (!LETTER.test(over)) return; // The number of a list item belongs to the text after it.
    this.#say(over);
    this.#rest = last;
  }

  /** @param {string} line */
  #line(line) {
    const fence = FENCE.exec(line)?.[1] ?? "";
    if (this.#skipped && this.#skipped !== "|") {
      if (fence.startsWith(this.#skipped)) this.#skipped = "";
      return;
    }
    if (fence) {
      this.#skipped = fence;
      this.#append(gettext("Code."));
    } else if (ROW.test(line)) {
      if (!this.#skipped) this.#append(gettext("A table."));
      this.#skipped = "|";
    } else {
      this.#skipped = "";
      this.#say(line);
    }
  }

  #end() {
    const line = this.#rest;
    this.#rest = "";
    this.#line(line);
    this.#skipped = "";
  }

  /** @param {string} markdown */
  #say(markdown) {
    this.#append(textOf(blocksOf(markdown.trim())).replace(/\s+/g, " ").replace(SIGNS, ""));
  }

  /** @param {string} text */
  #append(text) {
    if (!WORD.test(text)) return;
    const sentence = document.createElement("p");
    sentence.textContent = text;
    sentence.dir = "auto";
    this.#region.append(sentence);
    while (this.#region.childElementCount > MOST) this.#region.firstElementChild?.remove();
  }
}

/** @param {Token[]} tokens of Markdown @returns {string} their text, without tags */
function textOf(tokens) {
  const words = tokens.map(({ type, items, tokens: parts, text }) => {
    if (type === "html") return "";
    const inner = items ?? parts;
    return inner ? textOf(inner) : (text ?? "");
  });
  return words.join("");
}
