// The editor of a tool: its description for the model, the request, and its parameters.

import { button, element, selectField, textField } from "../elements.js";
import { callableChoices, pickerField } from "../pickers.js";
import { approvalField, enabledField, fallbackField } from "./rules.js";
import { at, countedFindings, FUNCTION } from "./paths.js";
import { parameterTable } from "./parameters.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

const METHODS = ["get", "post", "put", "delete"].map((one) => [one, one.toUpperCase()]);

/** @param {string} name */
export const emptyTool = (name) => ({
  type: "restapi-tool",
  open_ai_tool: { type: "function", function: { name, description: "", parameters: { type: "object", properties: {} } } },
  rest_api_method_info: { method_url: "/", method_type: "get" },
});

/** @param {Json | undefined} tool @returns {string} */
export const titleOf = (tool) =>
  tool?.open_ai_tool?.function?.name ?? tool?.template_name ?? tool?.deployment_id ?? tool?.name ?? "tool";

/**
 * `remove` removes the tool from the toolset.
 * @param {Store} store @param {number} index @param {number} number @param {Choices} choices @param {() => void} remove
 */
export function toolEditor(store, index, number, choices, remove) {
  const parts = ["tools", number];
  const path = at(index, ...parts);
  const tool = store.get(path) ?? {};
  const name = titleOf(tool);
  const request = tool.rest_api_method_info;
  const about = request
    ? `${(request.method_type ?? "").toUpperCase()} ${request.method_url ?? ""}`
    : tool.template_name
      ? "predefined"
      : "";
  const fold = element("details", { class: "studio-fold studio-tool", "data-tool": name });
  const state = element("span", { class: "studio-quiet" }, about, tool.enabled === false ? " · disabled" : "");
  const found = countedFindings(store, fold, () => store.findingsAt(path));
  fold.append(element("summary", {}, element("code", {}, name), " ", state, " ", found));
  const body = element("div", { class: "studio-inner" });
  fold.append(body);
  const fill = () => {
    if (body.childElementCount) return;
    body.append(...fields(store, index, parts, tool, choices), element("p", {}, button("Remove this tool", remove, { "aria-label": `Remove ${name}` })));
  };
  fold.addEventListener("toggle", () => fold.open && fill());
  if (store.findingsAt(path).length) {
    fold.open = true;
    fill();
  }
  return fold;
}

/** @param {Store} store @param {number} index @param {(string | number)[]} parts @param {Json} tool @param {Choices} choices */
function* fields(store, index, parts, tool, choices) {
  /** @param {(string | number)[]} rest */
  const path = (...rest) => at(index, ...parts, ...rest);
  if (tool.open_ai_tool) {
    yield textField(store, { path: path(...FUNCTION, "name"), empty: "", isExact: true, help: "The name for the model, after the toolset's prefix." });
    yield textField(store, { path: path(...FUNCTION, "description"), rows: 3, empty: "", isExact: true });
  }
  if (tool.rest_api_method_info) {
    yield selectField(store, { path: path("rest_api_method_info", "method_type"), options: METHODS });
    yield textField(store, {
      path: path("rest_api_method_info", "method_url"),
      empty: "",
      help: "Relative to the service URL, with parameters in braces.",
    });
    yield parameterTable(store, [...["tool_sets", index], ...parts, ...FUNCTION, "parameters"], titleOf(tool));
    yield textField(store, { path: path("display", "stage", "name"), placeholder: "The toolset's name" });
  }
  if (tool.deployment_id !== undefined) {
    yield pickerField(store, { path: path("deployment_id"), choices: () => callableChoices(choices), empty: "Choose one" });
  }
  if (!tool.template_name) yield approvalField(store, path(), "Toolset default");
  if (tool.open_ai_tool) yield fallbackField(store, path());
  yield enabledField(store, path("enabled"), "If this setting is off, the model does not get this tool.");
}
