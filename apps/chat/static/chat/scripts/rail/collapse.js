/** The sidebar collapses to its icons. The browser remembers this for every page. */

const KEY = "rail";

export function offerCollapsing() {
  const button = document.getElementById("rail-toggle");
  button?.addEventListener("click", () => {
    collapse(document.documentElement.dataset.rail !== "collapsed");
    button.focus();
  });
  tell();
}

/** @param {boolean} isCollapsed */
function collapse(isCollapsed) {
  if (isCollapsed) document.documentElement.dataset.rail = "collapsed";
  else delete document.documentElement.dataset.rail;
  tell();
  try {
    if (isCollapsed) localStorage.setItem(KEY, "collapsed");
    else localStorage.removeItem(KEY);
  } catch {
    // It applies to this page only.
  }
}

function tell() {
  const isCollapsed = document.documentElement.dataset.rail === "collapsed";
  document.getElementById("rail-toggle")?.setAttribute("aria-expanded", String(!isCollapsed));
}
