// What has pages of its own: versions, cases, runs, usage. Each is linked with what there is.

import { element, link, paragraph, quiet } from "../elements.js";

/**
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
    const list = pages[id].facts.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
    if (list.length) container.append(element("dl", { class: "studio-facts" }, ...list.flat()));
    else if (!pages[id].links.length) container.append(quiet("None yet."));
    container.append(
      paragraph(...pages[id].links.flatMap(([text, url]) => [link(text, url, { class: "workbench-button" }), " "])),
    );
  },
});

const HIDDEN = "Your account may not see them.";

export const versions = section(
  "versions",
  "Versions",
  "What people use is a published version, which never changes. Publishing the draft makes the next one; an earlier one can be brought back.",
  "This installation has no page for them.",
);

export const cases = section(
  "cases",
  "Cases",
  "A case asks the application something and says what has to come back. They tell whether a draft still does what it did.",
  "This installation has no page for them.",
);

export const runs = section(
  "runs",
  "Runs",
  "Every question that this application was asked, with how it went.",
  HIDDEN,
);

export const usage = section("usage", "Usage", "What the application has used, and what it cost.", HIDDEN);
