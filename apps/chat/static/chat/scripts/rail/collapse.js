/** The sidebar collapses to its icons: on every page if the user chose so, and for as long as a panel leaves too little room. */

const KEY = "rail";
/** Windows with room for a panel next to the page, but not for the whole sidebar too: the page would be narrower than 30rem. */
const tight = matchMedia("(min-width: 64rem) and (max-width: 86.99rem)");
const root = document.documentElement;
const sidebar = document.getElementById("sidebar");

let isChosen = root.dataset.rail === "collapsed";
let hasPanel = false;

export function offerCollapsing() {
  const button = document.getElementById("rail-toggle");
  button?.addEventListener("click", () => {
    if (hasPanel && tight.matches) sidebar?.togglePopover();
    else choose(!isChosen);
    button.focus();
  });
  sidebar?.addEventListener("toggle", tell);
  tight.addEventListener("change", apply);
  tell();
}

/** In a tight window, the sidebar then opens above the page only. @param {boolean} isOpen whether a panel is next to the page */
export function notePanel(isOpen) {
  hasPanel = isOpen;
  apply();
}

/** @param {boolean} isCollapsed */
function choose(isCollapsed) {
  isChosen = isCollapsed;
  apply();
  try {
    if (isCollapsed) localStorage.setItem(KEY, "collapsed");
    else localStorage.removeItem(KEY);
  } catch {
    // It applies to this page only.
  }
}

function apply() {
  if (isChosen || (hasPanel && tight.matches)) root.dataset.rail = "collapsed";
  else delete root.dataset.rail;
  if (sidebar?.matches(":popover-open")) sidebar.hidePopover();
  tell();
}

function tell() {
  const isExpanded = root.dataset.rail !== "collapsed" || sidebar?.matches(":popover-open");
  document.getElementById("rail-toggle")?.setAttribute("aria-expanded", String(isExpanded));
}
