// General information: the name in URLs, the times of creation and change, and actions.

import { button, element, group, link, newId } from "../elements.js";
import { labelAt } from "../labels.js";

/**
 * @import { Page } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

/** @type {Section} */
export const general = {
  id: "general",
  render(container, store) {
    container.append(address(store), group("About this application", ...factsAndLinks(store.data.general)));
  },
};

/** @param {Page} page */
function factsAndLinks({ facts, links }) {
  const list = facts.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
  return [
    element("dl", { class: "studio-facts" }, ...list.flat()),
    element("p", { class: "studio-actions" }, ...links.map(([text, url]) => link(text, url, { class: "console-button" }))),
  ];
}

/** The name in URLs, which is saved immediately. @param {Store} store */
function address(store) {
  const id = newId("slug");
  const input = element("input", { id, value: store.data.slug, maxLength: 50, autocomplete: "off", spellcheck: false, disabled: !store.data.may_change });
  input.setAttribute("aria-describedby", `${id}-help`);
  const save = button("Change the name", async () => {
    save.disabled = true;
    if (await store.saveAtOnce("access", { slug: input.value })) input.value = store.data.slug;
    else save.disabled = false;
    input.focus();
  });
  save.disabled = true;
  input.addEventListener("input", () => {
    save.disabled = input.value.trim() === store.data.slug;
  });
  return element(
    "div",
    { class: "studio-field" },
    element("label", { htmlFor: id, class: "studio-legend" }, labelAt(store, "(slug)")),
    element("div", { class: "studio-search-row" }, input, store.data.may_change && save),
    element("p", { class: "studio-help", id: `${id}-help` }, "Existing links and API clients break if you change it. Applies immediately, without publishing."),
  );
}
