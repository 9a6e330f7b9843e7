/** Code blocks that are shown as pictures. */

/** @type {Record<string, "mermaid" | "vega">} */
const KINDS = { mermaid: "mermaid", vega: "vega", "vega-lite": "vega", vegalite: "vega" };
const CHART = /"\$schema"\s*:\s*"https:\/\/vega\.github\.io\/schema\/vega(?:-lite)?\//;

/** @param {HTMLElement} block of code @returns {"mermaid" | "vega" | undefined} */
export function kindOf(block) {
  const language = block.dataset.language ?? "";
  if (language !== "json") return KINDS[language];
  return CHART.test(block.querySelector("pre")?.textContent?.slice(0, 2_000) ?? "") ? "vega" : undefined;
}
