// Runs before the first paint, which a module cannot: the page never flashes in the other theme.
(() => {
  const chosen = document.documentElement.dataset;
  try {
    if (localStorage.getItem("rail") === "collapsed") chosen.rail = "collapsed";
  } catch {
    // Storage is refused: the sidebar is shown.
  }
  if (chosen.kept) return; // by the account, and on the page already
  try {
    const kept = JSON.parse(localStorage.getItem("preferences") ?? "{}");
    for (const name of ["density", "width", "textSize", "sendKey", "shortcuts", "voice", "spoken"]) {
      if (typeof kept[name] === "string") chosen[name] = kept[name];
    }
    const theme = localStorage.getItem("theme") ?? "system";
    if (["light", "dark", "contrast"].includes(theme)) chosen.theme = theme;
  } catch {
    // Storage is refused: the system's theme it is.
  }
})();
