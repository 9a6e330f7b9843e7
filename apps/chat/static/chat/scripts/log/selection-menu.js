/** The menu for selected text of an answer: quote it, or ask about it. */

import { icon } from "../icons.js";
import { html, LitElement } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

const LONGEST = 4_000;
const GAP = 8;

/** A menu next to selected text. Dispatches `quote`; its detail goes into the box. */
export class SelectionMenu extends LitElement {
  #text = "";

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.popover = "manual";
    this.setAttribute("role", "toolbar");
    this.setAttribute("aria-label", gettext("Selected text"));
    // A press would clear the selection.
    this.addEventListener("pointerdown", (event) => event.preventDefault());
    this.addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
    addEventListener("scroll", this.#leave, { passive: true });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    removeEventListener("scroll", this.#leave);
  }

  render() {
    return html`<button type="button" class="quiet" @click=${() => this.#use("")}>${icon("text-wrap")}${gettext("Quote")}</button>
      <button type="button" class="quiet" @click=${() => this.#use(gettext("What does this mean?"))}>${icon("message-circle")}${gettext("Ask about this")}</button>`;
  }

  /** @param {Range} range @param {string} text */
  show(range, text) {
    this.#text = text.trim().slice(0, LONGEST);
    if (!this.matches(":popover-open")) this.showPopover();
    const { left, width, top, bottom } = range.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this;
    const above = top - offsetHeight - GAP;
    this.style.left = `${Math.max(GAP, Math.min(left + width / 2 - offsetWidth / 2, innerWidth - offsetWidth - GAP))}px`;
    this.style.top = `${above > GAP ? above : Math.min(bottom + GAP, innerHeight - offsetHeight - GAP)}px`;
  }

  close() {
    if (this.matches(":popover-open")) this.hidePopover();
  }

  #leave = () => this.close();

  /** @param {string} question below the quotation */
  #use(question) {
    this.close();
    document.getSelection()?.empty();
    this.dispatchEvent(new CustomEvent("quote", { detail: `${this.#text.replace(/^/gm, "> ")}\n\n${question}` }));
  }
}
customElements.define("selection-menu", SelectionMenu);
