// Runs in a frame without an origin: draws Mermaid diagrams for the page that contains it, one at a time.
(() => {
  const { mermaid } = /** @type {any} */ (globalThis);
  // An image cannot use the page's fonts, so it uses the system's.
  const FONT = "system-ui, sans-serif";

  /** @param {import("./colors.js").Colors} colors @returns {Record<string, unknown>} the values from which Mermaid derives its colors */
  function variables(colors) {
    const series = Object.fromEntries(colors.series.flatMap((color, at) => [[`pie${at + 1}`, color], [`git${at}`, color], [`cScale${at}`, color]]));
    return {
      ...series,
      darkMode: colors.dark,
      fontFamily: FONT,
      fontSize: "14px",
      background: colors.surface,
      primaryColor: colors["accent-soft"],
      primaryBorderColor: colors.accent,
      primaryTextColor: colors.ink,
      secondaryColor: colors.sunken,
      secondaryBorderColor: colors["line-strong"],
      secondaryTextColor: colors.ink,
      tertiaryColor: colors.surface,
      tertiaryBorderColor: colors["line-strong"],
      tertiaryTextColor: colors.ink,
      noteBkgColor: colors["warning-soft"],
      noteBorderColor: colors["warning-line"],
      noteTextColor: colors.ink,
      lineColor: colors["ink-soft"],
      textColor: colors.ink,
      titleColor: colors.ink,
      edgeLabelBackground: colors.surface,
      clusterBkg: colors.sunken,
      clusterBorder: colors.line,
      pieOpacity: "1",
      pieStrokeColor: colors.surface,
      pieSectionTextColor: colors.paper,
    };
  }

  /** @param {{id: number, text: string, colors: import("./colors.js").Colors}} asked @returns {Promise<string>} SVG */
  async function draw({ id, text, colors }) {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: "base",
      themeVariables: variables(colors),
      fontFamily: FONT,
      // HTML labels would be missing in an image.
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      maxTextSize: 20_000,
      maxEdges: 400,
    });
    const { svg } = await mermaid.render(`diagram-${id}`, text);
    const place = document.createElement("div");
    place.innerHTML = svg;
    const drawn = place.querySelector("svg");
    if (!drawn) throw new Error("Nothing was drawn.");
    const { width, height } = drawn.viewBox.baseVal;
    drawn.setAttribute("width", String(Math.ceil(width)));
    drawn.setAttribute("height", String(Math.ceil(height)));
    return new XMLSerializer().serializeToString(drawn);
  }

  addEventListener("message", async ({ source, data }) => {
    if (source !== parent) return;
    try {
      parent.postMessage({ id: data.id, svg: await draw(data) }, "*");
    } catch (error) {
      parent.postMessage({ id: data.id, problem: String(/** @type {any} */ (error)?.message ?? error).slice(0, 400) }, "*");
    }
    document.body.replaceChildren();
  });
  addEventListener("load", () => parent.postMessage("ready", "*"));
})();
