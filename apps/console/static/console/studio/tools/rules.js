// The common fields of toolsets and their tools: approval, handling of failures, and the switch.

import { element, field, selectField, switchField } from "../elements.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 */

/** @param {Store} store @param {string} path @param {string} level the text of the usual choice */
export function approvalField(store, path, level) {
  return selectField(store, {
    path: `${path}.approval.mode`,
    findingsPath: `${path}.approval`,
    options: [
      ["", level],
      ["auto", "Calls run without approval"],
      ["confirm", "Each call waits for approval"],
    ],
  });
}

/** @type {Record<string, [title: string, strategies: Json[] | undefined]>} */
const STRATEGIES = {
  "": ["The model gets the error and continues", undefined],
  retry: ["Up to three retries, then the model gets the error", [{ type: "continue", retry: { attempts: 3 } }]],
  stop: ["The answer ends", [{ type: "hard_stop" }]],
};

/**
 * Rules that match none of these options stay until another option is selected.
 * @param {Store} store @param {string} path
 */
export function fallbackField(store, path) {
  const place = `${path}.fallback_configuration.strategies`;
  const current = store.get(place);
  /** @param {[name: string, strategy: [title: string, strategies: Json[] | undefined]]} entry */
  const same = ([, [, one]]) => JSON.stringify(one) === JSON.stringify(current);
  const chosen = Object.entries(STRATEGIES).find(same)?.[0] ?? "own";
  const own = chosen === "own" ? [["own", "Custom rules (see All fields)"]] : [];
  const options = [...own, ...Object.entries(STRATEGIES).map(([name, [text]]) => [name, text])];
  const control = element(
    "select",
    {},
    ...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
  control.addEventListener("change", () => {
    store.change(place, structuredClone(control.value === "own" ? current : STRATEGIES[control.value][1]));
  });
  return field(store, { path: place, control, findingsPath: `${path}.fallback_configuration` });
}

/** Users can turn the toolset on and off in the message box. @param {Store} store @param {string} path of the toolset @param {string} usual */
export const userSwitchField = (store, path, usual) =>
  selectField(store, {
    path: `${path}.user_switch`,
    options: [
      ["", usual],
      ["on", "In the message box, on in new conversations"],
      ["off", "In the message box, off in new conversations"],
    ],
  });

/** @param {Store} store @param {string} path @param {string} help */
export function enabledField(store, path, help) {
  return switchField(store, { path, help, on: undefined, off: false, isOn: (value) => value !== false });
}
