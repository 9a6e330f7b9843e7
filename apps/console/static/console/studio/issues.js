// The list of issues in the draft; each leads to its field.

import { element } from "./elements.js";
import { sectionOf } from "./sections.js";
import { skillSentence } from "./skill-editor.js";

/**
 * @import { Store } from "./store.js"
 */

/** @param {Store} store @param {(path: string) => unknown} goTo */
export const issueList = (store, goTo) =>
  element(
    "ul",
    { class: "studio-issues", "aria-label": "Issues in the draft" },
    ...store.findings.map(({ severity, path, label, message }) => {
      /** @param {Event} event */
      const follow = (event) => {
        event.preventDefault();
        goTo(path);
      };
      return element(
        "li",
        { class: `studio-${severity}` },
        element("strong", {}, severity === "error" ? "Error " : "Warning "),
        element("a", { href: `#${sectionOf(store, path).id}`, title: path || "$", onclick: follow }, label),
        ` ${path.startsWith("skills/") ? skillSentence(message) : message}`,
      );
    }),
  );
