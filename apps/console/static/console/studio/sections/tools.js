// The tools that the model may call: a card for each toolset, and the sources of new ones.

import { addBar } from "../tools/sources.js";
import { card } from "../tools/cards.js";
import { platformTools } from "../tools/platform.js";
import { button, element, findings, link, quiet } from "../elements.js";
import { nameOf } from "../tools/paths.js";
import { openTrial } from "../tools/trial.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 * @import { About } from "../tools/cards.js"
 */

export const tools = {
  id: "tools",
  /** @param {HTMLElement} container @param {Store} store @param {number} [open] the toolset that is expanded */
  async render(container, store, open) {
    const [choices, about] = await Promise.all([store.choices(), cardsOf(store)]);
    if (!container.isConnected) return;
    const list = element("div", { class: "studio-inner" });
    const trial = element("p", { class: "studio-actions" }, button("Try all tools", () => openTrial(store, "all", "all tools")));
    /** @param {number} [isOpen] the toolset that is expanded @param {About[]} known */
    const draw = (isOpen, known = []) => {
      /** @type {Json[]} */
      const toolsets = store.get("tool_sets") ?? [];
      const cards = toolsets.map((_, index) => card(store, index, { about: known[index], choices, redraw, isOpen: index === isOpen }));
      trial.hidden = !store.data.may_change || cards.length === 0;
      list.replaceChildren(...(cards.length ? cards : [quiet("No tools yet. Without tools, the model answers from its own knowledge.")]));
    };
    /**
     * The server is called again, because names and numbers have changed; the cards appear immediately.
     * @param {number} [isOpen]
     */
    const redraw = (isOpen) => {
      draw(isOpen);
      cardsOf(store).then((known) => list.isConnected && draw(isOpen, known));
    };
    draw(open, about);
    /** @param {number} index @param {boolean} [isComplete] the next source can be pasted immediately */
    const added = (index, isComplete = false) => {
      container.replaceChildren();
      this.render(container, store, isComplete ? undefined : index).then(() => {
        if (isComplete) {
          const field = container.querySelector("[data-paste]");
          field?.scrollIntoView({ block: "center" });
          field?.querySelector("textarea")?.focus();
          const status = field?.querySelector("[role=status]");
          if (status) status.textContent = `Added ${nameOf(store.get(`tool_sets[${index}]`))}. Paste the next URL, or continue.`;
          return;
        }
        const place = container.querySelector(`[data-toolset="${index}"]`);
        place?.scrollIntoView({ block: "center" });
        place?.querySelector("summary")?.focus();
      });
    };
    container.append(findings(store, "tool_sets", true), trial, list, addBar(store, choices, added), platformTools(store, choices), elsewhere());
  },
};

/** @param {Store} store @returns {Promise<About[]>} */
async function cardsOf(store) {
  if (!store.data.may_change) return [];
  const response = await store.send("cards", store.current).catch(() => null);
  return response?.ok ? (await response.json()).cards : [];
}

const elsewhere = () =>
  quiet("The timeout for all tools is under ", link("Limits", "#limits"), "; approval and visibility are under ", link("Behavior", "#behaviour"), ".");
