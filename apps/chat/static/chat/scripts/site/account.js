/** The account page. */

import "./saving.js";
import "../notices/browser-notices.js";

document.getElementById("name-form")?.addEventListener("saved", (event) => showName(/** @type {CustomEvent<{name: string}>} */ (event).detail.name.trim()));

/** Shows the user's new name in the sidebar. @param {string} name if empty, the username is shown */
function showName(name) {
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-own-name]"))) {
    const shown = name || (element.dataset.ownName ?? "");
    element.textContent = shown;
    const initial = document.querySelector("[data-initial]");
    if (initial) initial.textContent = [...shown][0] ?? "";
  }
}
