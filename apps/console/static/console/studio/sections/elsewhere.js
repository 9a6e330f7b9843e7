// Links to related pages: versions, test cases, runs and usage.

import { element, link, paragraph, quiet } from "../elements.js";

/**
 * @import { Page } from "../data.js"
 * @import { Section } from "../sections.js"
 */

/** @param {string} id @param {string} title @param {string} about @param {string} none @returns {Section} */
const section = (id, title, about, none) => ({
  id,
  title,
  render(container, store) {
    container.append(paragraph(about));
    const { pages } = store.data;
    if (!pages[id]) {
      container.append(quiet(none));
      return;
    }
    container.append(...factsAndLinks(pages[id]));
  },
});

/** @param {Page} page */
export function factsAndLinks({ facts, links }) {
  const list = facts.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
  const shown = list.length ? element("dl", { class: "studio-facts" }, ...list.flat()) : "";
  return [
    shown || (links.length ? "" : quiet("None yet.")),
    element("p", { class: "studio-actions" }, ...links.map(([text, url]) => link(text, url, { class: "console-button" }))),
  ];
}

const HIDDEN = "You do not have permission to view them.";

export const versions = section(
  "versions",
  "Versions",
  "Users always get a published version, which never changes. Publishing the draft creates the next one; earlier ones can be restored.",
  "This installation does not have this page.",
);

export const cases = section(
  "cases",
  "Test cases",
  "A test case has a question and the expected answer. Test cases show whether a draft still works.",
  "This installation does not have this page.",
);

export const runs = section(
  "runs",
  "Runs",
  "All questions to this application, with their outcomes.",
  HIDDEN,
);

export const usage = section("usage", "Usage", "Usage and cost of the application.", HIDDEN);
