// The sources of new tools. Each source is a form that adds toolsets to the draft.

import { parts, reasonOf, UNREACHABLE } from "../../parts.js";
import { button, element, quiet } from "../elements.js";
import { callableChoices, pickerField } from "../pickers.js";
import { fetchJson } from "../store.js";
import { addToolsets, nameOf, plainName } from "./paths.js";
import { ask, commandFound, labelled, line, serverFound, serviceFound } from "./found.js";
import { askServer } from "./server-tools.js";
import { emptyTool } from "./rest-tool.js";
import { pasteField } from "./pasted.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Child } from "../elements.js"
 * @import { Choice } from "../pickers.js"
 * @import { Store } from "../store.js"
 * @import { Done } from "./found.js"
 *
 * @typedef {(store: Store, choices: Choices, done: Done) => Child[]} Source a form of its own
 * @typedef {{title: string, description?: string, tools: string[] | null, toolset: Json}} Predefined
 */

/**
 * A button for a slow action; errors are shown next to it.
 * @param {string} text @param {() => Promise<string | undefined>} work @param {string} doing
 */
function slow(text, work, doing) {
  const status = element("p", { role: "status", class: "studio-status" });
  const made = button(text, async () => {
    made.disabled = true;
    status.className = "studio-status";
    status.textContent = doing;
    try {
      status.textContent = (await work()) ?? "";
    } catch (error) {
      status.className = "studio-status studio-error";
      status.textContent = reasonOf(error);
    } finally {
      made.disabled = false;
    }
  }, { class: "console-button console-primary" });
  return element("div", { class: "studio-actions" }, made, status);
}

/** An MCP server: a URL, or a registered server; then its tools. @type {Source} */
function fromServer(store, choices, done) {
  const address = line({ placeholder: "https://mcp.example.com/mcp", inputMode: "url" });
  const { address: register } = choices.add;
  let known = "";
  const place = element("div", { class: "studio-inner" });
  /** @param {string} kind */
  const chosen = (kind) => (known.startsWith(`${kind} `) ? known.slice(kind.length + 1) : "");
  const server = () => (chosen("program") ? { protocol: "stdio", server: chosen("program") } : { url: address.value.trim() });
  const registered = pickerField(store, {
    label: "Or a registered server",
    choices: () => [
      ...choices.registered.map(({ template, title }) => /** @type {Choice} */ ([`address ${template}`, title, title === template ? "" : template])),
      ...choices.servers.map(({ name }) => /** @type {Choice} */ ([`program ${name}`, name, "A program of this installation"])),
    ],
    empty: "None",
    none: "No servers registered yet.",
    add: register && ["Register a server for all applications", register],
    onchange: (value) => {
      known = value;
      address.disabled = Boolean(value);
    },
  });
  const connect = slow(
    "Connect",
    async () => {
      place.replaceChildren();
      const template = chosen("address");
      const found = await askServer(store, server(), undefined, template);
      place.replaceChildren(...serverFound(found, done, template));
      return found.message;
    },
    "Connecting…",
  );
  return [
    labelled("Server URL", address),
    registered,
    connect,
    place,
  ];
}

/** An OpenAPI document: fetched, pasted or a file; then its operations. @type {Source} */
function fromOpenApi(store, choices, done) {
  const address = line({ placeholder: "https://api.example.com/openapi.json", inputMode: "url" });
  const text = element("textarea", { rows: 5, spellcheck: false });
  const file = element("input", { type: "file", accept: ".json,.yaml,.yml" });
  file.addEventListener("change", async () => {
    text.value = (await file.files?.[0]?.text()) ?? "";
    address.value = "";
  });
  const place = element("div", { class: "studio-inner" });
  const read = slow(
    "Read",
    async () => {
      place.replaceChildren();
      const found = await ask(store, "openapi", address.value.trim() ? { url: address.value } : { text: text.value });
      place.replaceChildren(...serviceFound(found, choices.secrets, done));
      return "";
    },
    "Reading…",
  );
  return [labelled("Document URL", address), labelled("Or a file", file), labelled("Or its text, in JSON or YAML", text), read, place];
}

/** A curl command: one tool, in a new toolset or in one of the same service. @type {Source} */
function fromCurl(store, choices, done) {
  const text = element("textarea", { rows: 4, spellcheck: false, placeholder: "curl https://api.example.com/v1/parcels/{id} -H 'X-API-Key: …'" });
  const place = element("div", { class: "studio-inner" });
  const read = slow(
    "Read",
    async () => {
      place.replaceChildren();
      const found = await ask(store, "curl", { text: text.value });
      place.replaceChildren(...commandFound(store, choices.secrets, found, done));
      return "";
    },
    "Reading…",
  );
  return [labelled("Command", text, "The command is parsed, not run. Credentials in it are removed."), read, place];
}

/** The predefined toolsets of this installation, with descriptions. @type {Source} */
function fromPredefined(store, _choices, done) {
  const place = element("div", { class: "studio-inner" }, quiet("Loading…"));
  fetchJson(store.data.urls.predefined)
    .then(({ toolsets }) => {
      const has = (store.get("tool_sets") ?? []).map(nameOf);
      const rows = toolsets.map((/** @type {Predefined} */ one) =>
        element(
          "li",
          {},
          element(
            "div",
            {},
            element("strong", {}, one.title),
            one.description && element("p", { class: "studio-clamp" }, one.description),
            quiet(one.tools ? one.tools.join(", ") : "the tools of its server"),
          ),
          has.includes(nameOf(one.toolset)) ? quiet("added") : button("Add", () => done(structuredClone(one.toolset)), { "aria-label": `Add ${one.title}` }),
        ),
      );
      place.replaceChildren(rows.length ? element("ul", { class: "studio-offers" }, ...rows) : quiet("No predefined toolsets."));
    })
    .catch(() => place.replaceChildren(element("p", { class: "studio-error" }, UNREACHABLE)));
  return [place];
}

/** Another application or a model that is called as a tool. @type {Source} */
function fromApplication(store, choices, done) {
  let chosen = "";
  const add = button(
    "Add",
    () => {
      /** @type {Json[]} */
      const toolsets = store.get("tool_sets") ?? [];
      const index = toolsets.findIndex(({ type }) => type === "dial-deployment");
      const tool = { type: "dial-deployment-simple", deployment_id: chosen };
      if (index < 0) return done({ type: "dial-deployment", name: "assistants", tools: [tool] });
      const path = `tool_sets[${index}].tools`;
      /** @type {Json[]} */
      const before = store.get(path);
      if (!before.some(({ deployment_id: id }) => id === chosen)) store.change(path, [...before, tool]);
      done(index);
    },
    { class: "console-button console-primary", disabled: true },
  );
  const { deployment } = choices.add;
  const pick = pickerField(store, {
    label: "Deployment",
    choices: () => callableChoices(choices),
    empty: "Choose one",
    none: "No other applications or deployments yet.",
    add: deployment && ["Add a deployment", deployment],
    help: "The model sends it a question and gets the answer as the result.",
    onchange: (value) => {
      chosen = value;
      add.disabled = !value;
    },
  });
  return [pick, element("p", {}, add)];
}

/** A REST service without a document. @type {Source} */
function byHand(_store, _choices, done) {
  const address = line({ placeholder: "https://api.example.com/v1", inputMode: "url" });
  const add = button("Add", () => {
    const host = URL.canParse(address.value) ? new URL(address.value).hostname.split(".").slice(-2)[0] : "service";
    done({ type: "rest-api", name: plainName(host), base_url: address.value.trim() || null, tools: [emptyTool("new_tool")] });
  }, { class: "console-button console-primary" });
  return [labelled("Service URL", address), element("p", {}, add)];
}

/** A toolset of a kind that needs only a name and the fields of its card. @param {string} type @param {string} title @returns {Source} */
const ofKind = (type, title) => (_store, _choices, done) => {
  const name = line({ placeholder: plainName(title) });
  const add = button("Add", () => done({ type, name: plainName(name.value.trim() || title) }), { class: "console-button console-primary" });
  return [labelled("Name", name), element("p", {}, add)];
};

/** @type {[title: string, detail: string, make: Source][]} */
const SOURCES = [
  ["MCP server", "A URL, or a registered server", fromServer],
  ["OpenAPI document", "A URL, a file or its text", fromOpenApi],
  ["curl command", "One tool that sends the same request", fromCurl],
  ["Predefined toolset", "Shared by all applications of this installation", fromPredefined],
  ["Another application", "An application or a model, called as a tool", fromApplication],
  ["REST service", "Without a document: enter its tools", byHand],
];

/**
 * `done(toolset)` adds a toolset; `done(index)` reports the toolset to which a tool was added.
 * @param {Store} store @param {Choices} choices @param {(index: number, isComplete?: boolean) => void} added a complete one needs no further settings
 */
export function addBar(store, choices, added) {
  const place = element("div", { class: "studio-source" });
  /** @type {typeof SOURCES} */
  const sources = [
    ...SOURCES,
    ...Object.entries(store.data.kinds)
      .filter(([, { is_addable }]) => is_addable)
      .map(([type, { title }]) => /** @type {(typeof SOURCES)[number]} */ ([title, "", ofKind(type, title)])),
  ];
  const source = pickerField(store, {
    label: "Or add from",
    choices: () => sources.map(([title, detail]) => /** @type {Choice} */ ([title, title, detail])),
    empty: "Choose a source",
    onchange: (chosen) => {
      place.replaceChildren();
      const [title, , make] = sources.find(([one]) => one === chosen) ?? [];
      if (!make) return;
      place.append(element("div", { class: "studio-card", role: "group", "aria-label": title }, ...make(store, choices, done)));
      parts(place, "input, textarea, choice-list, button", HTMLElement)[0]?.focus();
    },
  });
  /** @type {Done} */
  const done = (toolset) => added(typeof toolset === "number" ? toolset : addToolsets(store, toolset));
  /** @type {Done} */
  const pasted = (toolset) => added(typeof toolset === "number" ? toolset : addToolsets(store, toolset), true);
  return element(
    "div",
    { class: "studio-inner", "data-add": "" },
    element("h3", {}, "Add tools"),
    pasteField(store, choices, pasted),
    source,
    place,
  );
}
