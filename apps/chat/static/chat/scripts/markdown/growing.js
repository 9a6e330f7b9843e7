/**
 * A long block of Markdown that is still arriving: code, a table or a list. New text is appended, so that a token costs the same after 100,000 characters as after 1,000.
 */

import { blocksOf } from "./safe.js";

/**
 * @import { Token } from "./safe.js"
 *
 * @typedef {(text: string) => DocumentFragment} Render Markdown to elements
 * @typedef {{grow: (text: string) => boolean}} Growing takes the block so far; false if it must be redrawn
 */

/** Blocks up to this many characters are redrawn. */
const SHORT = 1_000;
/** Characters per element of code, which limits the layout work of the browser. */
const LONGEST_PART = 4_000;
const FENCE = /^(`{3,}|~{3,})[^\n]*\n/;
const TABLE_HEAD = /^[^\n]*\n[^\n]*\n/;

/**
 * @param {Token[]} blocks that are open
 * @param {ChildNode[]} nodes that were drawn of them
 * @param {Render} render
 * @returns {Growing | null} null for blocks that are redrawn each time
 */
export function growingBlock(blocks, nodes, render) {
  const [block, ...others] = blocks;
  if (!block || block.raw.length < SHORT || others.some(({ type }) => type !== "space")) return null;
  const root = nodes.find((node) => node instanceof HTMLElement);
  if (!(root instanceof HTMLElement)) return null;
  if (block.type === "code") return growingCode(block.raw, root);
  if (block.type === "table") return growingTable(block.raw, root, render);
  return block.type === "list" ? growingList(block, root, render) : null;
}

/** @param {string} raw @param {HTMLElement} root @returns {Growing | null} */
function growingCode(raw, root) {
  const fence = FENCE.exec(raw);
  const code = root.querySelector("pre > code");
  if (!fence || !code) return null;
  const [opening, marks] = fence;
  const closing = new RegExp(`^ {0,3}\\${marks[0]}{${marks.length},}[ \\t]*$`, "m");
  if (closing.test(raw.slice(opening.length))) return null;
  const rest = document.createTextNode("");
  code.replaceChildren(rest);
  /** @type {HTMLElement | null} */
  let part = null;
  let done = opening.length;
  return {
    grow(text) {
      const end = text.lastIndexOf("\n") + 1;
      const lines = text.slice(done, end);
      const unfinished = text.slice(Math.max(done, end));
      if (closing.test(lines) || closing.test(unfinished)) return false;
      if (lines) {
        if (!part || (part.textContent ?? "").length > LONGEST_PART) {
          part = document.createElement("span");
          part.className = "code-part";
          rest.before(part);
        }
        part.append(lines);
        done = end;
      }
      rest.data = unfinished;
      return true;
    },
  };
}

/** @param {string} raw @param {HTMLElement} root @param {Render} render @returns {Growing | null} */
function growingTable(raw, root, render) {
  const head = TABLE_HEAD.exec(raw)?.[0];
  const body = root.querySelector("tbody");
  if (!head || !body) return null;
  let done = raw.lastIndexOf("\n") + 1;
  /** @type {Element[]} rows of a line that is not finished */
  let unfinished = raw.length > done && body.lastElementChild ? [body.lastElementChild] : [];
  return {
    grow(text) {
      const added = text.slice(done);
      if (!added) return true;
      const [table, ...others] = blocksOf(head + added);
      if (table.type !== "table" || others.length || table.raw.length !== head.length + added.length) return false;
      for (const row of unfinished) row.remove();
      const rows = [...render(head + added).querySelectorAll("tbody > tr")];
      body.append(...rows);
      const end = text.lastIndexOf("\n") + 1;
      unfinished = text.length > end ? rows.slice(-1) : [];
      done = Math.max(done, end);
      return true;
    },
  };
}

/** @param {Token} block @param {HTMLElement} list @param {Render} render @returns {Growing | null} */
function growingList(block, list, render) {
  if (!/^[OU]L$/.test(list.tagName)) return null;
  let last = lastItemAt(block);
  return {
    grow(text) {
      const [added, ...others] = blocksOf(text.slice(last));
      if (added?.type !== "list" || others.some(({ type }) => type !== "space")) return false;
      const drawn = render(text.slice(last)).firstElementChild;
      if (drawn?.tagName !== list.tagName) return false;
      list.lastElementChild?.remove();
      list.append(...drawn.children);
      last += lastItemAt(added);
      return true;
    },
  };
}

/** @param {Token} list @returns {number} the start of its last item */
function lastItemAt({ items = [] }) {
  return items.slice(0, -1).reduce((length, { raw }) => length + raw.length, 0);
}
