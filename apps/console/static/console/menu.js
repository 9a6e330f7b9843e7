// Scrolls the menu to the current page, also when a phone shows the menu.

document.addEventListener("DOMContentLoaded", () => {
  const current = document.querySelector("#nav-sidebar-apps a.active");
  if (current) new ResizeObserver(() => current.scrollIntoView({ block: "nearest" })).observe(current);
});
