// The platform's own tools: a card with a switch for each, and its settings.

import { element, group, link, numberField, quiet, selectField, switchField } from "../elements.js";
import { ticksField } from "../pickers.js";
import { subagentFields } from "./subagents.js";

/**
 * @import { Choices } from "../data.js"
 * @import { Store } from "../store.js"
 */

/** @param {string} name */
const of = (name) => `features.${name}`;
/** @param {{enabled?: boolean} | null | undefined} value */
const isEnabled = (value) => Boolean(value?.enabled);
/** @param {unknown} value */
const isThere = (value) => value !== null && value !== undefined;
/** @param {Store} store @param {string} path @param {string} placeholder */
const seconds = (store, path, placeholder) => numberField(store, { path: of(path), min: 1, step: 1, placeholder });

/** @param {Store} store @param {string} path @param {string} usual */
const approval = (store, path, usual) =>
  selectField(store, {
    path: of(path),
    options: [["", usual], ["auto", "Calls run without approval"], ["confirm", "Each call waits for approval"]],
  });

/**
 * `on` is the manifest value of an enabled tool; `settings` are fields that are shown then.
 * @type {{name: string, help: string, on?: object, isOn?: (value: any) => boolean, settings?: (store: Store, choices: Choices) => Node[]}[]}
 */
const TOOLS = [
  {
    name: "web_fetch",
    help: "Reads pages and files on the web, if the installation allows it.",
  },
  {
    name: "notes",
    help: "Reads and writes notes of the user or their team.",
  },
  {
    name: "search_conversations",
    help: "Finds the user's earlier conversations with this application.",
  },
  {
    name: "questions",
    help: "Asks the user a question, with choices, and waits for the answer.",
    on: {},
    isOn: isThere,
    settings: (store) => [seconds(store, "questions.seconds", "300")],
  },
  {
    name: "todo",
    help: "Keeps a to-do list for long tasks. The user sees it.",
  },
  {
    name: "subagents",
    help: "Delegates tasks to sub-agents of this application. A preview feature.",
    settings: subagentFields,
  },
  {
    name: "spawn_agent",
    help: "Delegates parts of a task to predefined sub-agents, which work in parallel.",
    settings: (store, choices) => [
      ticksField(store, {
        path: of("spawn_agent.agents"),
        names: () => choices.agents,
        help: "If none is selected, all predefined sub-agents can be used.",
        none: "No predefined sub-agents installed yet.",
      }),
      seconds(store, "spawn_agent.timeout_seconds", "120"),
    ],
  },
  {
    name: "schedules",
    help: "Sets alarms and schedules tasks for the user, who confirms them.",
    settings: (store) => [approval(store, "schedules.approval.mode", "Needs approval (default)")],
  },
  {
    name: "representation_tooling",
    help: "Attaches files or links to its answer.",
    on: {},
    isOn: isThere,
  },
  {
    name: "summary",
    help: "A tool whose text ends the answer.",
  },
];

/** @param {Store} store @param {Choices} choices */
export function platformTools(store, choices) {
  const cards = TOOLS.map(({ name, help, on = { enabled: true }, isOn = isEnabled, settings }) =>
    element(
      "div",
      { class: "studio-card", "data-platform": name },
      switchField(store, { path: of(name), help, on, isOn, children: settings && (() => settings(store, choices)) }),
    ),
  );
  return group(
    "Built-in tools",
    quiet("Ready to use, without a URL or key. Predefined toolsets have more tools; tools for files are under ", link("Files and contexts", "#files"), "."),
    element("div", { class: "studio-platform" }, ...cards),
  );
}
