// What the model of the typed application would see: the steps of its assembly, then the request.

import { part, reasonOf } from "./parts.js";
import { readEvents } from "./studio/events.js";

/** @import { Piece } from "./studio/draft-chat.js" */

const place = document.querySelector("[data-prompt-preview]");
if (place instanceof HTMLElement) {
  const button = part(place, "button", HTMLButtonElement);
  const status = part(place, "[role=status]", HTMLElement);
  const shown = part(place, "[data-steps]", HTMLElement);
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    shown.replaceChildren();
    status.textContent = "Assembling…";
    try {
      const body = new FormData(place.closest("form") ?? undefined);
      const response = await fetch(place.dataset.url ?? "", { method: "POST", body });
      if (!response.ok) throw new Error(`status ${response.status}`);
      await readEvents(response.body, show);
    } catch (error) {
      status.textContent = `It could not be assembled (${reasonOf(error)}).`;
    }
    button.disabled = false;
  });

  /** @param {string} name @param {any} data */
  function show(name, data) {
    if (name === "problem") status.textContent = data.text;
    if (name === "issues") shown.append(piece("Initialization issues", data.text, true));
    if (name === "layer") shown.append(piece(`${data.layer}: ${data.source}`, data.text, true, data.tokens));
    if (name === "request") showRequest(data);
  }

  /**
   * @param {{model: string, flat: string, messages: Piece[], tools: Piece[], parameters: string, tokens: number}} request
   */
  function showRequest({ model, flat, messages, tools, parameters, tokens }) {
    status.textContent = `About ${tokens} tokens would be sent to ${model}; no model was asked.`;
    if (flat) shown.append(piece("The whole system prompt", flat, false));
    for (const one of messages) shown.append(piece(`Message: ${one.source}`, one.text, true, one.tokens));
    for (const one of tools) shown.append(piece(`Tool: ${one.source}`, one.text, false, one.tokens));
    shown.append(piece("Parameters", parameters, false));
  }

  /** @param {string} title @param {string} text @param {boolean} isOpen @param {number} [tokens] */
  function piece(title, text, isOpen, tokens) {
    const details = document.createElement("details");
    details.className = "sent-piece";
    details.open = isOpen && text.length < 2000;
    const summary = document.createElement("summary");
    summary.append(element("span", title));
    if (tokens !== undefined) {
      const count = element("span", `about ${tokens} tokens`);
      count.className = "sent-tokens";
      summary.append(count);
    }
    const code = element("pre", text);
    code.tabIndex = 0;
    code.setAttribute("aria-label", title);
    details.append(summary, code);
    return details;
  }

  /** @template {keyof HTMLElementTagNameMap} Name @param {Name} name @param {string} text */
  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }
}
