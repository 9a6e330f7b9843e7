// Sections that the server renders when they are opened: versions, test cases, runs and usage.

import { element, paragraph, quiet } from "../elements.js";
import { fetchOwn } from "../store.js";
import { parts } from "../../parts.js";

/**
 * @import { Section } from "../sections.js"
 */

/** @param {string} id @param {string} about @returns {Section} */
const panel = (id, about) => ({
  id,
  async render(container, store) {
    const url = store.data.panels[id];
    const place = element("div", { class: "studio-body" }, quiet(url ? "Loading…" : "You do not have permission to view them."));
    container.append(paragraph(about), place);
    if (!url) return;
    place.innerHTML = await (await fetchOwn(url)).text();
    for (const link of parts(place, "a", HTMLAnchorElement)) Object.assign(link, { target: "_blank", rel: "noopener" });
  },
});

export const versions = panel(
  "versions",
  "Users always get a published version, which never changes. Publishing the draft creates the next one; earlier ones can be restored.",
);

export const cases = panel("cases", "A test case has a question and the expected answer. Test cases show whether a draft still works.");

export const runs = panel("runs", "The latest questions to this application, with their outcomes.");

export const usage = panel("usage", "Usage and cost of the application in the last 30 days.");
