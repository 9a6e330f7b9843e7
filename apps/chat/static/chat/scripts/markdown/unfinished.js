/** Text that is still arriving: emphasis and code that are not closed yet look as they will, without their marks. */

/** Escapes, formulas and URLs, in which marks mean nothing; marks of code; marks of emphasis. */
const MARKS = /\\.|\$[^$\n]+\$|https?:\/\/\S+|(`+)|(\*{1,3}|_{1,3}|~~)/g;
const WORD = /[\p{L}\p{N}_]/u;

/**
 * Closes what the end of a text leaves open. Marks at the very end are dropped, because they enclose nothing yet.
 * @param {string} text Markdown of one block @returns {string}
 */
export function closeEmphasis(text) {
  const words = text.trimEnd();
  /** @type {string[]} */
  const open = [];
  let end = words.length;
  for (const { 0: whole, 1: ticks, 2: marks, index } of words.matchAll(MARKS)) {
    const isCode = open.at(-1)?.startsWith("`") ?? false;
    if (!(ticks || marks) || (isCode && whole !== open.at(-1))) continue;
    const [before, after] = [words[index - 1] ?? " ", words[index + whole.length] ?? ""];
    const rest = /\s/.test(before) && !isCode ? whole : close(open, whole);
    if (!rest) continue;
    if (!after) end = index + whole.length - rest.length;
    else if (rest === whole && (ticks || (!WORD.test(before) && !/\s/.test(after)))) open.push(whole);
  }
  return open.length || end < words.length ? words.slice(0, end).trimEnd() + open.reverse().join("") : text;
}

/** Removes the marks that other marks close, and returns the marks that close nothing. @param {string[]} open @param {string} marks */
function close(open, marks) {
  let rest = marks;
  for (let last = open.at(-1); last && rest.startsWith(last); last = open.at(-1)) {
    rest = rest.slice(last.length);
    open.pop();
  }
  return rest;
}
