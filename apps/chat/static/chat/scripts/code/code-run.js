/** Runs a Python block of an answer on the server, and shows its output below the code. */

import { codeOf, save } from "./files.js";
import { iconElement } from "../icons.js";
import { csrfToken } from "../requests.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{name: string, type: string, content: string}} OutputFile content is in base64
 * @typedef {object} Output
 * @property {boolean} is_successful
 * @property {string} result
 * @property {string} stdout
 * @property {string} stderr
 * @property {string[]} notes
 * @property {OutputFile[]} files
 * @property {string[]} left_out
 */

const styles = new URL("../../styles/code-run.css", import.meta.url).href;
const PICTURE = /^image\/(?:png|jpeg)$/;
/** @type {WeakMap<HTMLElement, AbortController>} the requests of the blocks that are running */
const running = new WeakMap();

/** @param {HTMLElement} block of code @param {HTMLButtonElement} button that runs and stops it */
export async function runOrStop(block, button) {
  const request = running.get(block);
  if (request) {
    request.abort();
    return;
  }
  const started = new AbortController();
  running.set(block, started);
  show(button, "square", gettext("Stop"));
  await loadStyles(styles);
  const output = outputOf(block);
  output.replaceChildren(line("running", gettext("Running…")));
  try {
    output.replaceChildren(...(await fetched(codeOf(block), started.signal)));
  } finally {
    running.delete(block);
    show(button, "play", gettext("Run"));
  }
  // The last child, which removes the output.
  output.append(removeButton(output, button));
}

/** @param {string} code @param {AbortSignal} signal @returns {Promise<Node[]>} */
async function fetched(code, signal) {
  const body = new URLSearchParams({ code, csrfmiddlewaretoken: csrfToken() });
  try {
    const response = await fetch(`${location.pathname}run/`, { method: "POST", body, signal });
    const told = await response.json();
    return response.ok ? parts(told) : [line("failed", told.error?.message ?? gettext("The code could not be run."))];
  } catch {
    return [signal.aborted ? line("stopped", gettext("Stopped.")) : line("failed", gettext("The code could not be run. Check your connection and try again."))];
  }
}

/** @param {Output} output @returns {Node[]} */
function parts({ is_successful, result, stdout, stderr, notes, files, left_out }) {
  const isEmpty = !stdout && !result && !stderr && !files.length;
  const words = is_successful ? (isEmpty ? gettext("Finished without output.") : gettext("Finished.")) : gettext("The code ended with an error.");
  const missing = left_out.length ? [gettext("Too large to show: {names}", { names: left_out.join(", ") })] : [];
  return [
    line(is_successful ? "finished" : "failed", words),
    ...written(stdout, gettext("Output")),
    ...written(result, gettext("Result")),
    ...written(stderr, gettext("Error"), "code-error"),
    ...files.map(fileElement),
    ...[...notes, ...missing].map((note) => line("note", note)),
  ];
}

/** @param {HTMLElement} block @returns {HTMLElement} the element that shows the output */
function outputOf(block) {
  const known = block.querySelector(".code-output");
  if (known instanceof HTMLElement) return known;
  const output = document.createElement("div");
  output.className = "code-output";
  output.setAttribute("role", "group");
  output.setAttribute("aria-label", gettext("Output of the code"));
  output.setAttribute("aria-live", "polite");
  block.append(output);
  return output;
}

/** @param {string} state @param {string} words */
function line(state, words) {
  const element = document.createElement("p");
  element.className = "code-state";
  element.dataset.state = state;
  element.dir = "auto";
  element.textContent = words;
  return element;
}

/** @param {string} text @param {string} label @param {string} [kind] @returns {HTMLElement[]} */
function written(text, label, kind = "") {
  if (!text) return [];
  const element = document.createElement("pre");
  element.className = kind;
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  element.textContent = text.replace(/\n$/, "");
  return [element];
}

/** @param {OutputFile} file */
function fileElement({ name, type, content }) {
  if (PICTURE.test(type)) {
    const zoom = document.createElement("button");
    zoom.type = "button";
    zoom.className = "zoom code-picture";
    zoom.dataset.zoom = "";
    const picture = document.createElement("img");
    picture.src = `data:${type};base64,${content}`;
    picture.alt = name;
    zoom.append(picture);
    return zoom;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.append(iconElement("download"), gettext("Download {name}", { name }));
  button.addEventListener("click", () => save(Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0)), name, "application/octet-stream"));
  return button;
}

/** @param {HTMLElement} output @param {HTMLElement} opener that gets the focus */
function removeButton(output, opener) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet code-output-remove";
  button.title = gettext("Remove the output");
  button.setAttribute("aria-label", button.title);
  button.append(iconElement("x"));
  button.addEventListener("click", () => {
    output.remove();
    opener.focus();
  });
  return button;
}

/** @param {HTMLButtonElement} button @param {string} symbol @param {string} words */
function show(button, symbol, words) {
  button.querySelector("svg")?.replaceWith(iconElement(symbol));
  const label = button.querySelector("span");
  if (label) label.textContent = words;
}
