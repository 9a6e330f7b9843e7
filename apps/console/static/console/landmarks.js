// Sets accessible names for parts of the admin's pages that the theme leaves without one.

document.addEventListener("DOMContentLoaded", () => {
  mark("#nav-sidebar", "navigation", "Administration");
  mark("#main", "main");
  if (!document.querySelector("#main")) mark("#page", "main");
  for (const cell of document.querySelectorAll("#result_list [data-label]")) {
    const label = cell.getAttribute("data-label") ?? "";
    cell.setAttribute("data-label", label.charAt(0).toUpperCase() + label.slice(1));
  }
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
});

/** @param {string} selector @param {string} role @param {string} [label] */
function mark(selector, role, label) {
  const part = document.querySelector(selector);
  part?.setAttribute("role", role);
  if (label) part?.setAttribute("aria-label", label);
}

const NAMELESS = ".select2-search__field, .select2-selection, .select2-selection__rendered";

function name() {
  // Otherwise, each would be a landmark with the same name.
  for (const part of document.querySelectorAll(".simplebar-content-wrapper[role=region]")) {
    part.setAttribute("role", "group");
  }
  // Without a role, an element cannot have an accessible name.
  for (const part of document.querySelectorAll(".search-label-icon:not([role])")) {
    part.setAttribute("role", "img");
  }
  for (const part of document.querySelectorAll(".select2-selection[aria-owns]")) {
    part.setAttribute("aria-controls", part.getAttribute("aria-owns") ?? "");
  }
  // The theme puts an open list at the end of the page, outside all landmarks.
  for (const part of document.querySelectorAll("body > .select2-container--open:not([role])")) {
    part.setAttribute("role", "region");
    part.setAttribute("aria-label", "Choices");
  }
  for (const part of document.querySelectorAll(NAMELESS)) {
    if (part.hasAttribute("aria-label")) continue;
    const select = part.closest(".select2-container")?.previousElementSibling;
    const label = select instanceof HTMLSelectElement ? select.labels[0] : undefined;
    part.setAttribute("aria-label", label?.textContent.trim() || "Search");
    part.removeAttribute("aria-labelledby"); // The theme names a list by its value.
  }
}
