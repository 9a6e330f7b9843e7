// The list of the server's findings, and the request for them.

import { part, parts } from "../parts.js";

/**
 * @import { Finding } from "../studio/data.js"
 *
 * @typedef {Finding & {line: number, column: number}} PlacedFinding in the text of a manifest
 */

export class Findings {
  /** @type {AbortController | undefined} */
  #asked;

  /**
   * `onChoose` receives the finding that the user selected.
   * @param {HTMLElement} root @param {(finding: PlacedFinding) => unknown} onChoose
   */
  constructor(root, onChoose) {
    this.section = part(root, "[data-findings]", HTMLElement);
    this.url = root.dataset.checkUrl ?? "";
    this.onChoose = onChoose;
    this.all = parts(this.section, "li", HTMLLIElement).map(read);
    this.section.addEventListener("click", (event) => this.choose(event));
  }

  /** @param {Event} event */
  choose(event) {
    const link = event.target instanceof Element ? event.target.closest("a[data-line]") : null;
    if (!link) return;
    event.preventDefault();
    this.onChoose(this.all[[...this.section.querySelectorAll("a[data-line]")].indexOf(link)]);
  }

  /**
   * Check the text on the server. Returns null if a newer check has started, or if it failed.
   * @param {string} text @returns {Promise<PlacedFinding[] | null>}
   */
  async check(text) {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const token = part(document, "[name=csrfmiddlewaretoken]", HTMLInputElement).value;
    const body = new FormData();
    body.set("manifest", text);
    try {
      const response = await fetch(this.url, {
        method: "POST",
        body,
        headers: { "X-CSRFToken": token },
        signal: this.#asked.signal,
      });
      if (!response.ok) return null;
      this.show((await response.json()).findings);
      return this.all;
    } catch {
      return null;
    }
  }

  /** @param {PlacedFinding[]} findings */
  show(findings) {
    // Rewriting the list would lose the focus.
    if (JSON.stringify(findings) === JSON.stringify(this.all)) return;
    this.all = findings;
    this.section.hidden = findings.length === 0;
    const list = document.createElement("ul");
    list.append(...findings.map(write));
    part(this.section, "ul", HTMLUListElement).replaceWith(list);
  }

  summary() {
    const errors = this.all.filter((finding) => finding.severity === "error").length;
    const warnings = this.all.length - errors;
    if (this.all.length === 0) return "No issues.";
    return [count(errors, "error"), count(warnings, "warning")].filter(Boolean).join(", ");
  }
}

/** @param {number} number @param {string} name */
const count = (number, name) => (number ? `${number} ${name}${number === 1 ? "" : "s"}` : "");

/** @param {HTMLLIElement} item @returns {PlacedFinding} */
function read(item) {
  const { path, line, column } = part(item, "a", HTMLAnchorElement).dataset;
  const message = part(item, "span", HTMLElement).textContent;
  const severity = item.dataset.severity === "error" ? "error" : "warning";
  return { severity, path: path ?? "", message, line: Number(line), column: Number(column) };
}

/** @param {PlacedFinding} finding */
function write(finding) {
  const item = document.createElement("li");
  item.className = `manifest-editor-${finding.severity}`;
  const kind = document.createElement("strong");
  kind.textContent = finding.severity === "error" ? "Error" : "Warning";
  const link = document.createElement("a");
  link.href = "#";
  link.dataset.line = String(finding.line);
  link.textContent = `line ${finding.line}${finding.path ? `, ${finding.path}` : ""}`;
  const message = document.createElement("span");
  message.textContent = finding.message;
  item.append(kind, " ", link, " ", message);
  return item;
}
