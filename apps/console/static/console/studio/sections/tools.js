// The tools that the model may call.

import { findings, paragraph } from "../elements.js";

export const tools = {
  id: "tools",
  title: "Tools",
  paths: ["tool_sets", "tool_defaults"],
  render(container, store) {
    const names = (store.get("tool_sets") ?? []).map(({ name, type }) => name ?? type).join(", ");
    container.append(paragraph(names || "No tools yet."), findings(store, "tool_sets"));
  },
};
