/** The appearance of the widget on the site: a scheme and a few tokens, which are validated one by one. */

const SCHEMES = new Set(["light", "dark", "contrast"]);
const COLOUR = /^#(?:[\da-f]{3}|[\da-f]{6})$/i;
const LENGTH = /^\d{1,2}px$/;
/** @type {Record<string, [RegExp, string[]]>} the format of a token, and the properties that it sets */
const TOKENS = {
  accent: [COLOUR, ["--accent", "--accent-strong"]],
  onAccent: [COLOUR, ["--on-accent"]],
  paper: [COLOUR, ["--paper"]],
  surface: [COLOUR, ["--surface"]],
  ink: [COLOUR, ["--ink"]],
  bubble: [COLOUR, ["--bubble"]],
  radius: [LENGTH, ["--radius"]],
};

/** @param {unknown} wanted @returns {string[]} the names that were not taken */
export function applyTheme(wanted) {
  const { scheme, ...tokens } = /** @type {Record<string, unknown>} */ (Object(wanted));
  const { dataset, style } = document.documentElement;
  const unknown = [];
  if (typeof scheme === "string" && SCHEMES.has(scheme)) dataset.theme = scheme;
  else if (scheme) unknown.push("scheme");
  else delete dataset.theme;
  for (const [name, value] of Object.entries(tokens)) {
    const [form, properties] = Object.hasOwn(TOKENS, name) ? TOKENS[name] : [];
    if (!form || !properties || typeof value !== "string" || !form.test(value)) unknown.push(name);
    else for (const property of properties) style.setProperty(property, value);
  }
  return unknown;
}
