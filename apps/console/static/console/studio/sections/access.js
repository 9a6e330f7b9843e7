// Who may use the application.

import { element, link, paragraph, quiet } from "../elements.js";

/**
 * @import { Section } from "../sections.js"
 */

/** @type {Section} */
export const access = {
  id: "access",
  title: "Access",
  render(container, store) {
    const { access: facts, urls } = store.data;
    const rows = facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
    container.append(
      paragraph("Who finds the application on the page and may ask it. Access is no part of a version: a change holds at once."),
      element("dl", { class: "studio-facts" }, ...rows),
      paragraph(link("Change who may use it", `${urls.form}#access`, { class: "workbench-button" })),
      quiet("The roles of people and groups, whether it is public, and its owner stand on the form of the application."),
    );
  },
};
