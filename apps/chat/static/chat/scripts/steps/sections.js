/** Splits the content of a step into sections with headings, and the named values of a request. */

const HEADING = /^> #{4,5} (.{1,60}?):?\s*$/;
const ENTRY = /^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/;
const FENCE = /^(`{3,})/;
const WHOLE = /^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;
/** The name of a tool, with which its error begins. The title of the step stands for it. */
const TOOL_NAME = /^[A-Za-z][\w-]*_[\w-]*: (?=\S)/;
const LONGEST_CAUSE = 200;

/**
 * @typedef {{heading: string, text: string}} Section the first one may have no heading
 * @typedef {{name: string, text: string}} Entry
 */

/** @param {string} text Markdown of a step @returns {Section[]} */
export function sectionsOf(text) {
  const found = split(text, HEADING);
  return found.map(({ match, lines }) => ({ heading: match?.[1] ?? "", text: lines.join("\n").trim() }));
}

/** @param {string} text of a section @returns {Entry[]} [] if it is not a list of named values */
export function entriesOf(text) {
  const found = split(text, ENTRY);
  if (found.some(({ match }) => !match)) return [];
  return found.map(({ match, lines }) => ({
    name: match?.[1] ?? "",
    text: [match?.[2] ?? "", ...lines].join("\n").trim(),
  }));
}

/** @param {string} text @returns {object | null} the object or list that it is as JSON, alone or in a code block */
export function valueOf(text) {
  const inner = WHOLE.exec(text)?.[2] ?? text;
  if (!/^\s*[[{]/.test(inner)) return null;
  try {
    return JSON.parse(inner);
  } catch {
    return null;
  }
}

/** @param {string} text of a step that failed @returns {string} the first line of its error, or "" */
export function causeOf(text) {
  const section = sectionsOf(text).findLast(({ heading }) => heading === "Error");
  const line = (section?.text.split("\n").find((one) => one.trim() && !FENCE.test(one)) ?? "").replace(TOOL_NAME, "");
  return line.length > LONGEST_CAUSE ? `${line.slice(0, LONGEST_CAUSE - 1)}…` : line;
}

/**
 * Splits lines where a new piece begins, outside code blocks.
 * @param {string} text @param {RegExp} beginning
 */
function split(text, beginning) {
  /** @type {{match: RegExpExecArray | null, lines: string[]}[]} */
  const pieces = [];
  let fence = "";
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    const match = fence ? null : beginning.exec(line);
    if (fence && mark.length >= fence.length) fence = "";
    else if (!fence) fence = mark;
    if (match) pieces.push({ match, lines: [] });
    else if (pieces.length) pieces[pieces.length - 1].lines.push(line);
    else if (line.trim()) pieces.push({ match: null, lines: [line] });
  }
  return pieces;
}
