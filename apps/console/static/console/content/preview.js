// The button that previews a typed item without saving it.

import { part, reasonOf } from "../parts.js";

/** @typedef {{problems: string[], blocks: {title: string, text: string}[], doubts?: {path: string, message: string}[]}} Preview */

const place = document.querySelector("[data-content-preview]");
if (place instanceof HTMLElement) {
  const button = part(place, "button", HTMLButtonElement);
  const status = part(place, "[role=status]", HTMLElement);
  const problems = part(place, "[data-problems]", HTMLElement);
  const blocks = part(place, "[data-blocks]", HTMLElement);
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "Checking…";
    const body = new FormData(place.closest("form") ?? undefined);
    if (place.dataset.kind) {
      body.set("kind", place.dataset.kind);
      body.set("name", place.dataset.name ?? "");
    }
    try {
      const response = await fetch(place.dataset.url ?? "", { method: "POST", body });
      if (!response.ok) throw new Error(`status ${response.status}`);
      show(await response.json());
    } catch (error) {
      show({ problems: [], blocks: [] });
      status.textContent = `The check failed (${reasonOf(error)}).`;
    }
    button.disabled = false;
  });

  /** @param {Preview} found */
  function show(found) {
    problems.replaceChildren(...found.problems.map((text) => element("li", text)));
    blocks.replaceChildren(...found.blocks.flatMap(parts));
    if (found.doubts) {
      const doubts = part(document, "[data-content-doubts]", HTMLElement);
      doubts.hidden = found.doubts.length === 0;
      part(doubts, "ul", HTMLUListElement).replaceChildren(...found.doubts.map(doubtful));
    }
    const count = found.problems.length;
    status.textContent = count
      ? `${count} ${count === 1 ? "error" : "errors"} found.`
      : "No issues.";
  }

  /** @param {{title: string, text: string}} block */
  function parts({ title, text }) {
    const code = element("pre", text);
    code.className = "console-code";
    code.tabIndex = 0;
    code.setAttribute("aria-label", title);
    return [element("h3", title), code];
  }

  /** @param {{path: string, message: string}} doubt */
  function doubtful({ path, message }) {
    const item = document.createElement("li");
    item.append(element("code", path), ` ${message}`);
    return item;
  }

  /** @param {string} name @param {string} text */
  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }
}
