/** The sidebar's link to the list of all applications, which is below the message box of the home page. */

const HASH = "#apps";
const link = document.getElementById("all-apps");

/** Marks the link while its list is shown. */
export function markAllApps() {
  if (isShown() && location.hash === HASH) link?.setAttribute("aria-current", "page");
  else link?.removeAttribute("aria-current");
}

export function offerAllApps() {
  for (const event of ["hashchange", "popstate"]) addEventListener(event, markAllApps);
  markAllApps();
}

function isShown() {
  return document.getElementById(HASH.slice(1))?.checkVisibility() ?? false;
}
