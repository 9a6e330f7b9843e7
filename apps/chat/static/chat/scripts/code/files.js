/** Code as a file: its name, and how it is saved. */

/** @type {Record<string, string>} */
const ENDINGS = {
  bash: "sh", c: "c", cpp: "cpp", "c++": "cpp", csharp: "cs", css: "css", csv: "csv", diff: "diff", docker: "dockerfile",
  go: "go", graphql: "graphql", html: "html", java: "java", javascript: "js", js: "js", json: "json", jsx: "jsx",
  kotlin: "kt", latex: "tex", lua: "lua", markdown: "md", md: "md", mermaid: "mmd", perl: "pl", php: "php",
  powershell: "ps1", py: "py", python: "py", r: "r", ruby: "rb", rust: "rs", scala: "scala", sh: "sh", shell: "sh",
  sql: "sql", svg: "svg", swift: "swift", toml: "toml", ts: "ts", tsx: "tsx", typescript: "ts", "vega-lite": "vl.json",
  vega: "vg.json", xml: "xml", yaml: "yaml", yml: "yaml",
};
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,78}\.\w{1,10}$/u;
/** A first line such as `# app/main.py` or `<!-- index.html -->`. */
const COMMENT = /^\s*(?:#|\/\/|--|;|\/\*|<!--)\s*(\S+\.\w{1,10})\s*(?:\*\/|-->)?\s*$/;

/** @param {Element} block @returns {string} its code */
export function codeOf(block) {
  return (block.querySelector("pre")?.textContent ?? "").replace(/\n$/, "");
}

/**
 * @param {{title?: string, language?: string}} block
 * @param {string} text
 * @returns {string} the name that the code has itself, or one by its language
 */
export function fileNameOf({ title = "", language = "" }, text) {
  const written = [title, COMMENT.exec(text.split("\n", 1)[0])?.[1] ?? ""].map((name) => name.split(/[\\/]/).at(-1) ?? "");
  return written.find((name) => NAME.test(name)) ?? `code.${ENDINGS[language] ?? "txt"}`;
}

/** @param {BlobPart} content @param {string} name @param {string} [type] */
export function save(content, name, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Give the browser time to start reading.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
