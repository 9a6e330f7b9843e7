// A SKILL.md as fields: its name, its description, the other lines of the front matter, its instructions.

/**
 * @typedef {{name: string, description: string, rest: string[], body: string}} Skill `rest`: further lines of the front matter
 */

const SHAPE = /^---\n((?:.*\n)*?)---\n?([\s\S]*)$/;
const LINE = /^(name|description):[ \t]*(.*)$/;
const PLAIN = /^[A-Za-z0-9][^:#\n"'\\]*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|[\d.+-]+)$/i;

/**
 * Returns null for text in another format, which is edited as a whole.
 * @param {string} text @returns {Skill | null}
 */
export function readSkill(text) {
  const found = SHAPE.exec(text);
  if (!found) return null;
  const [, head, body] = found;
  /** @type {Skill} */
  const skill = { name: "", description: "", rest: [], body: body.replace(/^\n/, "") };
  for (const line of head.split("\n").slice(0, -1)) {
    const [, key, written] = LINE.exec(line) ?? [];
    if (key !== "name" && key !== "description") {
      // An indented line below a description would be lost.
      if (/^\s/.test(line) && !skill.rest.length) return null;
      skill.rest.push(line);
      continue;
    }
    const value = readText(written.trim());
    if (value === null) return null;
    skill[key] = value;
  }
  return skill;
}

/** @param {string} written */
function readText(written) {
  if (!written.startsWith('"')) return /^[|>'[{&*!%@`]/.test(written) || written.includes(" #") ? null : written;
  try {
    const value = JSON.parse(written);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** @param {Skill} skill */
export function writeSkill({ name, description, rest, body }) {
  const head = [`name: ${writeText(name)}`, `description: ${writeText(description)}`, ...rest];
  return `---\n${head.join("\n")}\n---\n\n${body}`;
}

/** Quotes the text if YAML might parse it as something else. @param {string} text */
function writeText(text) {
  const line = text.replace(/\s*\n\s*/g, " ");
  return !line || (PLAIN.test(line) && !RESERVED.test(line) && line === line.trim()) ? line : JSON.stringify(line);
}
