// Runs before the first paint, which a module cannot do, so that the page never flashes in the wrong theme.
(() => {
  const chosen = document.documentElement.dataset;
  try {
    if (localStorage.getItem("rail") === "collapsed") chosen.rail = "collapsed";
  } catch {
    // Storage is refused: show the sidebar.
  }
  if (chosen.kept) return; // Set by the account, and already on the page.
  try {
    const kept = JSON.parse(localStorage.getItem("preferences") ?? "{}");
    for (const name of ["density", "width", "textSize", "sendKey", "shortcuts", "voice", "spoken"]) {
      if (typeof kept[name] === "string") chosen[name] = kept[name];
    }
    const theme = localStorage.getItem("theme") ?? "system";
    if (["light", "dark", "contrast"].includes(theme)) chosen.theme = theme;
  } catch {
    // Storage is refused: use the system's theme.
  }
})();
