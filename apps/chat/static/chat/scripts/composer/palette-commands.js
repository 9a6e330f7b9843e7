/** Commands of the page in the palette. */

import { gettext } from "../texts.js";
/** @import { PageCommand } from "./commands.js" */

/** @param {PageCommand[]} commands */
export function offerCommands(commands) {
  const palette = document.getElementById("palette");
  palette?.addEventListener("found", (event) => {
    if (palette.dataset.filters) return; // Filters select conversations.
    const { words, groups } = /** @type {CustomEvent<{words: string, groups: object[]}>} */ (event).detail;
    const wanted = words.toLowerCase();
    const found = commands
      .filter(({ isPage, isOffered }) => !isPage && (isOffered?.() ?? true))
      .filter(({ name, detail }) => `${name} ${detail}`.toLowerCase().includes(wanted))
      .map(({ name, detail, act }) => ({ title: detail, detail: `/${name}`, url: "#", act }));
    if (found.length) groups.push({ title: gettext("Commands"), found });
  });
}
