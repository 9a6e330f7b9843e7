// The fields of sub-agents: the general-purpose one, and the types that the application declares.

import { button, cardHead, element, findings, focusOn, numberField, switchField, textField } from "../elements.js";
import { freeName, nameOf } from "./paths.js";
import { deploymentChoices, pickerField, ticksField } from "../pickers.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

const PATH = "features.subagents";
const TYPES = `${PATH}.types`;

/** @param {Store} store @param {Choices} choices @returns {Node[]} */
export function subagentFields(store, choices) {
  const list = element("div", { class: "studio-inner" });
  const draw = () => {
    /** @type {Json[]} */
    const types = store.get(TYPES) ?? [];
    list.replaceChildren(...types.map((_, index) => typeCard(store, choices, index, draw)));
  };
  const add = () => {
    /** @type {Json[]} */
    const types = store.get(TYPES) ?? [];
    const name = freeName("sub_agent", types.map((type) => type.name));
    store.change(TYPES, [...types, { name, description: "", system_prompt: "" }]);
    draw();
    focusOn(`[data-subagent="${types.length}"] input`);
  };
  draw();
  return [
    numberField(store, { path: `${PATH}.timeout_seconds`, min: 1, step: 1, placeholder: "Installation default" }),
    switchField(store, {
      path: `${PATH}.general_purpose`,
      help: "Works on any task. The model chooses its toolsets with each call.",
      on: undefined,
      off: null,
      isOn: (value) => value !== null,
      children: () => [
        textField(store, { path: `${PATH}.general_purpose.system_prompt`, rows: 3, placeholder: "Built in" }),
        ...limits(store, choices, `${PATH}.general_purpose`),
      ],
    }),
    list,
    findings(store, TYPES, true),
    element("p", {}, button("Add a sub-agent", add)),
  ];
}

/** @param {Store} store @param {Choices} choices @param {string} path */
const limits = (store, choices, path) => [
  pickerField(store, {
    path: `${path}.deployment_id`,
    choices: () => deploymentChoices(choices, "chat"),
    empty: "The application's model",
  }),
  numberField(store, { path: `${path}.max_iterations`, min: 1, step: 1, placeholder: "Same as the application" }),
];

/** @param {Store} store @param {Choices} choices @param {number} index @param {() => void} redraw */
function typeCard(store, choices, index, redraw) {
  const path = `${TYPES}[${index}]`;
  const name = store.get(`${path}.name`);
  const remove = () => {
    store.change(path, undefined);
    redraw();
    focusOn('[data-platform="subagents"] button');
  };
  return element(
    "fieldset",
    { class: "studio-card", "data-subagent": String(index) },
    ...cardHead(`Sub-agent ${index + 1}`, button("Remove", remove, { "aria-label": `Remove sub-agent ${name || index + 1}` })),
    textField(store, { path: `${path}.name`, empty: "" }),
    textField(store, { path: `${path}.description`, empty: "", help: "The model reads it to choose a sub-agent." }),
    textField(store, { path: `${path}.system_prompt`, rows: 3, empty: "", help: "Replaces the application's prompt." }),
    switchField(store, {
      path: `${path}.tool_sets`,
      help: "If this setting is off, the sub-agent has all of the application's toolsets.",
      on: [],
      off: undefined,
      isOn: (value) => Array.isArray(value),
      children: () => [
        ticksField(store, {
          label: "Toolsets",
          path: `${path}.tool_sets`,
          names: () => (store.get("tool_sets") ?? []).map(nameOf),
          empty: [],
          help: "The sub-agent has only the selected toolsets.",
          none: "The application has no toolsets yet.",
        }),
      ],
    }),
    ...limits(store, choices, path),
  );
}
