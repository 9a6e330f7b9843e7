// What the application can do beside calling its tools, as switches.

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
  title: "Behaviour",
  paths: ["features", "orchestrator.attachment_strategy", "orchestrator.tool_discovery", "orchestrator.client", "hooks"],
  render(container, store) {
    /** @param {string} name @param {string} label @param {string} help @param {Partial<SwitchOptions>} more */
    const feature = (name, label, help, more = {}) =>
      switchField(store, { path: of(name), label, help, on: { enabled: true }, isOn: isEnabled, ...more });
    container.append(
      group(
        "What people attach",
        linesField(store, {
          label: "Types of files that may be attached",
          path: of("input_attachment_types"),
          placeholder: "application/pdf\nimage/*",
          help: "One a line. Empty: any.",
        }),
        switchField(store, {
          label: "Show files only when the model asks for them",
          path: "orchestrator.attachment_strategy",
          on: { type: "lazy_on_demand" },
          isOn: isThere,
          help: "It saves tokens where people attach much. Off: the model sees pictures at once and is told of the rest.",
        }),
      ),
      group(
        "What the model knows",
        switchField(store, {
          label: "The time",
          path: of("timestamp"),
          on: undefined,
          off: null,
          isOn: (value) => value !== null && store.get("features") !== null,
          help: "It is told the time with every question, and how old the results of its tools are.",
        }),
        feature("memory", "Memory", "It remembers things about the person in later conversations.", {
          children: () => [
            selectField(store, {
              label: "Shared with other applications",
              path: of("memory.scope"),
              options: [["", "no, it is this application's own"], ["user", "yes, with those that say so, if the person wants it"]],
            }),
            numberField(store, { label: "Memories that it knows from the start", path: of("memory.prime"), min: 0, max: 50, step: 1, placeholder: "0" }),
          ],
        }),
      ),
      group(
        "How it works",
        switchField(store, {
          label: "Search for tools instead of listing them",
          path: "orchestrator.tool_discovery",
          on: { enabled: true },
          isOn: isEnabled,
          help: "For applications with so many tools that listing them all costs too much.",
          children: () => [
            numberField(store, { label: "List toolsets with fewer tools", path: "orchestrator.tool_discovery.min_tools_for_deferral", min: 1, step: 1, placeholder: "10" }),
          ],
        }),
      ),
      group(
        "What people see and decide",
        selectField(store, {
          label: "Calls of tools that are shown",
          path: of("stage_display.level"),
          options: [["", "all (as usual)"], ["none", "none"], ["error", "those that fail"], ["info", "all"], ["debug", "all, and what the platform does by itself"]],
        }),
        selectField(store, {
          label: "Calls of tools wait for the person",
          path: of("approval.mode"),
          options: [["", "as the installation says"], ["auto", "never"], ["confirm", "always"]],
          help: "Single tools and toolsets can say otherwise; exceptions stand in All fields.",
        }),
        selectField(store, {
          label: "Models are paid with",
          path: of("model_keys.mode"),
          options: [["", "the installation's keys"], ["user_keys", "the key of the person, where they have one"]],
        }),
      ),
      findings(store, "hooks"),
    );
  },
};
