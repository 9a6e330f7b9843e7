// In a frame without an origin: draws Mermaid for the page that frames it, one diagram after the other.
(() => {
  const { mermaid } = /** @type {any} */ (globalThis);

  /** @param {{id: number, text: string, dark: boolean}} asked @returns {Promise<string>} SVG */
  async function draw({ id, text, dark }) {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: dark ? "dark" : "default",
      // As HTML, labels would be missing in a picture.
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
