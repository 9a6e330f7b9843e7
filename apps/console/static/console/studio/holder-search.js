// Searches users, groups and teams by part of the name.

import { button, element, newId } from "./elements.js";

/**
 * @import { Holder } from "./data.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {object} Search
 * @property {string} label
 * @property {string} key of the field, to find it after a redraw
 * @property {string} verb the label of a result's button
 * @property {(holder: Holder) => unknown} pick
 * @property {Holder[]} known holders that are omitted from the results
 * @property {"user" | "group"} [kind] searches only this kind
 * @property {boolean} [exact] the typed text may be an exact username, including that of an account that is not listed
 */

const PAUSE_MS = 200;

export class HolderSearch {
  #pause = 0;
  #asked = 0;

  /** @param {Store} store @param {Search} search */
  constructor(store, search) {
    this.store = store;
    this.search = search;
    const id = newId("holders");
    this.input = element("input", { type: "search", id, maxLength: 150, autocomplete: "off", placeholder: "Enter a name", "data-key": search.key });
    this.input.setAttribute("aria-describedby", `${id}-status`);
    this.status = element("p", { role: "status", class: "studio-help", id: `${id}-status` });
    this.results = element("ul", { class: "studio-holders", "aria-label": "Found", hidden: true });
    this.root = element(
      "div",
      { class: "studio-field" },
      element("label", { htmlFor: id, class: "studio-legend" }, search.label),
      this.input,
      this.status,
      this.results,
    );
    this.input.addEventListener("input", () => this.wait());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
  }

  wait() {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.find(), PAUSE_MS);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const first = this.results.querySelector("button");
    if (event.key === "ArrowDown" && first) {
      event.preventDefault();
      first.focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(this.#pause);
      this.find();
    } else if (event.key === "Escape" && this.input.value) {
      event.preventDefault();
      this.input.value = "";
      this.find();
    }
  }

  async find() {
    const asked = ++this.#asked;
    const text = this.input.value.trim();
    if (!text) {
      this.show([], "");
      return;
    }
    const response = await this.store.send("people", { text }).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (asked !== this.#asked) return; // The query has changed.
    if (!response?.ok || !answer) this.show([], answer?.message ?? "Search is unavailable.");
    else this.show(this.offered(answer.found), text);
  }

  /** @param {Holder[]} found */
  offered(found) {
    const { kind, known } = this.search;
    return found.filter((one) => (!kind || one.kind === kind) && !known.some((other) => other.kind === one.kind && other.name === one.name));
  }

  /** @param {Holder[]} found @param {string} text the search text, or the reason for no results */
  show(found, text) {
    const { verb, pick, exact } = this.search;
    const items = found.map((one) =>
      element(
        "li",
        {},
        element("span", { class: "studio-holder" }, element("strong", {}, one.title), " ", element("span", { class: "studio-quiet" }, one.title === one.name ? one.what : `${one.what}, ${one.name}`)),
        button(verb, () => pick(one), { "aria-label": `${verb}: ${one.title}` }),
      ),
    );
    const typed = this.input.value.trim();
    if (exact && typed && !found.length) items.push(this.exact(typed));
    this.results.replaceChildren(...items);
    this.results.hidden = !items.length;
    this.status.textContent = found.length ? `${found.length} found` : typed && text === typed ? "No match." : text;
  }

  /** @param {string} name */
  exact(name) {
    /** @param {"user" | "group"} kind @param {string} what */
    const choice = (kind, what) =>
      button(`${this.search.verb} the ${what.toLowerCase()}`, () => this.search.pick({ kind, what, name, title: name }), {
        "aria-label": `${this.search.verb} the ${what.toLowerCase()} named exactly ${name}`,
      });
    return element(
      "li",
      {},
      element("span", { class: "studio-holder" }, "Named exactly ", element("strong", {}, name)),
      choice("user", "User"),
      choice("group", "Group"),
    );
  }
}
