/** Loads the filters of the palette when it is first opened. */

document.getElementById("palette")?.addEventListener("opened", () => void import("../rail/palette-filters.js"), { once: true });
