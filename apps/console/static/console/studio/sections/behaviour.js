// The features of the application in addition to its tools, as switches.

import { findings, group, linesField, numberField, selectField, switchField } from "../elements.js";

/**
 * @import { SwitchOptions } from "../elements.js"
 * @import { Section } from "../sections.js"
 */

/** @param {string} name */
const of = (name) => `features.${name}`;
/** @param {{enabled?: boolean} | null | undefined} value */
const isEnabled = (value) => Boolean(value?.enabled);
/** @param {unknown} value */
const isThere = (value) => value !== null && value !== undefined;

/** @type {Section} */
export const behaviour = {
  id: "behaviour",
  render(container, store) {
    /** @param {string} name @param {string} help @param {Partial<SwitchOptions>} more */
    const feature = (name, help, more = {}) => switchField(store, { path: of(name), help, on: { enabled: true }, isOn: isEnabled, ...more });
    container.append(
      group(
        "Attachments",
        linesField(store, {
          path: of("input_attachment_types"),
          placeholder: "application/pdf\nimage/*",
          help: "One per line. Leave empty for any.",
        }),
        switchField(store, {
          path: "orchestrator.attachment_strategy",
          on: { type: "lazy_on_demand" },
          isOn: isThere,
          help: "Saves tokens if users attach many files. If this setting is off, the model sees images immediately and gets a list of the other files.",
        }),
      ),
      group(
        "What the model knows",
        switchField(store, {
          path: of("timestamp"),
          on: undefined,
          off: null,
          isOn: (value) => value !== null && store.get("features") !== null,
          help: "Adds the time to every question, and the age of tool results.",
        }),
        feature("memory", "Remembers facts about the user in later conversations.", {
          children: () => [
            selectField(store, {
              path: of("memory.scope"),
              options: [["", "No, only this application"], ["user", "Yes, with applications that also share, if the user agrees"]],
            }),
            numberField(store, { path: of("memory.prime"), min: 0, max: 50, step: 1, placeholder: "0" }),
          ],
        }),
      ),
      group(
        "Tool search",
        switchField(store, {
          path: "orchestrator.tool_discovery",
          on: { enabled: true },
          isOn: isEnabled,
          help: "For applications with so many tools that listing all of them costs too much.",
          children: () => [
            numberField(store, { path: "orchestrator.tool_discovery.min_tools_for_deferral", min: 1, step: 1, placeholder: "10" }),
          ],
        }),
      ),
      group(
        "Visibility and approval",
        selectField(store, {
          path: of("stage_display.level"),
          options: [["", "All (default)"], ["none", "None"], ["error", "Failed calls only"], ["info", "All"], ["debug", "All, including internal steps"]],
        }),
        selectField(store, {
          path: of("approval.mode"),
          options: [["", "Installation default"], ["auto", "Never"], ["confirm", "Always"]],
          help: "Tools and toolsets can override this. The exceptions are under All fields.",
        }),
        selectField(store, {
          path: of("model_keys.mode"),
          options: [["", "The installation's keys"], ["user_keys", "The user's key, if any"]],
        }),
      ),
      findings(store, "hooks"),
    );
  },
};
