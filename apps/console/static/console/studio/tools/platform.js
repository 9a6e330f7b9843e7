// The tools that the platform itself has: a card with a switch for each, and its few settings.

import { element, group, linesField, link, numberField, quiet, selectField, switchField } from "../elements.js";
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
/** @param {Store} store @param {string} path @param {string} label @param {string} placeholder */
const seconds = (store, path, label, placeholder) => numberField(store, { label, path: of(path), min: 1, step: 1, placeholder });

/** @param {Store} store @param {string} path @param {string} usual */
const approval = (store, path, usual) =>
  selectField(store, {
    label: "Approval",
    path: of(path),
    options: [["", usual], ["auto", "calls are made at once"], ["confirm", "each call waits for a person"]],
  });

/**
 * `on` is what the manifest gets when the tool is switched on; `settings` are fields that show then.
 * @type {{name: string, label: string, help: string, on?: object, isOn?: (value: any) => boolean, settings?: (store: Store, choices: Choices) => Node[]}[]}
 */
const TOOLS = [
  {
    name: "web_fetch",
    label: "Pages of the Web",
    help: "It reads pages and files of the Web, as far as the installation allows.",
  },
  {
    name: "notes",
    label: "Notes",
    help: "It reads and writes the notes of the person or their team.",
  },
  {
    name: "search_conversations",
    label: "Earlier conversations",
    help: "It finds what the same person asked this application before.",
  },
  {
    name: "questions",
    label: "Questions to the person",
    help: "It asks something, with choices, and waits for the answer.",
    on: {},
    isOn: isThere,
    settings: (store) => [seconds(store, "questions.seconds", "How long it waits, in seconds", "300")],
  },
  {
    name: "todo",
    label: "A list of what is to be done",
    help: "It writes one for long tasks; the person sees it ticked.",
  },
  {
    name: "subagents",
    label: "Sub-agents",
    help: "It hands tasks to sub-agents of this application. A preview feature.",
    settings: subagentFields,
  },
  {
    name: "spawn_agent",
    label: "Helpers",
    help: "It hands parts of a task to helpers, which work beside each other.",
    settings: (store) => [
      linesField(store, { label: "Only these helpers", path: of("spawn_agent.agents"), rows: 2, help: "Names, one a line. Empty: all that are installed." }),
      seconds(store, "spawn_agent.timeout_seconds", "Time for each, in seconds", "120"),
    ],
  },
  {
    name: "schedules",
    label: "Schedules",
    help: "It sets alarms and schedules tasks for the person, who confirms them.",
    settings: (store) => [approval(store, "schedules.approval.mode", "each waits for a person (as usual)")],
  },
  {
    name: "representation_tooling",
    label: "Answers with files",
    help: "It puts a file or a link beside its answer.",
    on: {},
    isOn: isThere,
  },
  {
    name: "summary",
    label: "End with a summary",
    help: "A tool whose text ends the answer.",
  },
];

export const PLATFORM_PATHS = TOOLS.map(({ name }) => of(name));

/** @param {Store} store @param {Choices} choices */
export function platformTools(store, choices) {
  const cards = TOOLS.map(({ name, label, help, on = { enabled: true }, isOn = isEnabled, settings }) =>
    element(
      "div",
      { class: "studio-card", "data-platform": name },
      switchField(store, { path: of(name), label, help, on, isOn, children: settings && (() => settings(store, choices)) }),
    ),
  );
  return group(
    "Tools of the platform",
    quiet("They need no address and no key. More of them are under Predefined above; those that search and write files are under ", link("Files and contexts", "#files"), "."),
    element("div", { class: "studio-platform" }, ...cards),
  );
}
