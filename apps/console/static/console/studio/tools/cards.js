// The toolsets of the draft as cards.

import { momentText } from "../../../chat/scripts/durations.js";
import { parts, reasonOf } from "../../parts.js";
import { button, element, findings, focusOn, numberField, quiet, textField } from "../elements.js";
import { approvalField, enabledField, fallbackField, userSwitchField } from "./rules.js";
import { askServer, tickList } from "./server-tools.js";
import { at, countedFindings, freeName, nameOf, plural } from "./paths.js";
import { authorizationField } from "./credential.js";
import { emptyTool, titleOf, toolEditor } from "./rest-tool.js";
import { openTrial } from "./trial.js";

/**
 * @import { CardField, Choices, Json, Kind } from "../data.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {{tool: string, count: number, last: string}} Failure of a tool
 * @typedef {{kind?: string, name?: string, about?: string, tools?: string[] | null, failures?: Failure[]}} About a toolset: what the server knows
 */

/** An unknown type, which may be a mistake. @type {Kind} */
const UNKNOWN = { title: "", fields: [], is_named: true, is_remote: false, is_written: true, is_addable: false };

/** @param {Store} store @param {string} type @returns {Kind} */
const kindOf = (store, type) => ({ ...UNKNOWN, ...store.data.kinds[type] });

/** A switch for users, by its state in new conversations. @type {Record<string, string>} */
const SWITCHES = { on: "users can turn it off", off: "users can turn it on" };

/**
 * Creates the fields of a card, by the kind of editor that they use.
 * @type {Record<CardField["editor"], (store: Store, index: number, field: CardField, choices: Choices) => Iterable<Node>>}
 */
const EDITORS = {
  text: (store, index, { path, label, placeholder }) => [textField(store, { label, path: at(index, path), placeholder })],
  number: (store, index, { path, label, placeholder }) => [numberField(store, { label, path: at(index, path), placeholder })],
  authorization: (store, index, { path }, choices) => [authorizationField(store, at(index, path), choices, true)],
  server: serverSettings,
};

/**
 * `about` is the server's data about it; `redraw(open)` redraws all cards.
 * @param {Store} store @param {number} index @param {{about?: About, choices: Choices, redraw: (open?: number) => void, isOpen: boolean}} drawing
 */
export function card(store, index, { about, choices, redraw, isOpen }) {
  const toolset = store.get(at(index)) ?? {};
  const name = nameOf(toolset);
  const kind = about?.kind || toolset.type;
  const isPredefined = toolset.type === "predefined";
  const switched = isPredefined ? at(index, "override", "enabled") : at(index, "enabled");
  const isOff = store.get(switched) === false;
  const known = about?.tools ?? toolset.tools;
  const tools = about?.tools === null ? "all of its tools" : known && plural(known.length, "tool");
  const remove = () => {
    store.change(at(index), undefined);
    redraw();
    focusOn("[data-add] button");
  };
  const userSwitch = isPredefined ? toolset.override?.user_switch : toolset.user_switch;
  const facts = [kindOf(store, kind).title || kind, tools, about?.about, SWITCHES[userSwitch], isOff && "switched off"].filter(Boolean);
  const place = element("details", { class: "studio-fold" });
  const inside = () => store.findingsAt(at(index)).filter(({ path }) => path !== at(index));
  place.append(element("summary", {}, "Settings ", countedFindings(store, place, inside)));
  const fill = () => {
    if (place.childElementCount === 1) place.append(element("div", { class: "studio-inner" }, ...settings(store, index, { toolset, switched, isPredefined, choices, redraw })));
  };
  place.addEventListener("toggle", () => place.open && fill());
  if (isOpen) {
    fill();
    place.open = true;
  }
  return element(
    "section",
    { class: "studio-card studio-toolset", "aria-label": `Toolset ${name}`, "data-toolset": String(index) },
    element(
      "header",
      { class: "studio-actions" },
      element("div", { class: "studio-gap" }, element("h3", {}, about?.name || name, " ", element("code", { class: "studio-path" }, at(index))), quiet(facts.join(" · "))),
      store.data.may_change && button("Try", () => openTrial(store, index, about?.name || name), { "aria-label": `Try ${name}` }),
      button("Remove", remove, { "aria-label": `Remove ${name}` }),
    ),
    ...(about?.failures ?? []).map(failure),
    findings(store, at(index), true),
    place,
  );
}

/** @param {Failure} failed */
const failure = ({ tool, count, last }) =>
  element(
    "p",
    { class: "studio-error" },
    element("code", {}, tool),
    ` failed ${plural(count, "time")} in the last 7 days, last on ${momentText(last)}.`,
  );

/**
 * @param {Store} store @param {number} index @param {{toolset: Json, switched: string, isPredefined: boolean, choices: Choices, redraw: (open?: number) => void}} drawing
 */
function* settings(store, index, { toolset, switched, isPredefined, choices, redraw }) {
  /** @param {(string | number)[]} parts */
  const path = (...parts) => at(index, ...parts);
  const off = "If this setting is off, the application ignores the toolset.";
  if (isPredefined) {
    yield quiet("This toolset is part of the installation's predefined content and changes with it.");
    yield approvalField(store, path("override"), "Default of the toolset or application");
    yield userSwitchField(store, path("override"), "Default of the toolset");
    yield enabledField(store, switched, off);
    return;
  }
  const kind = kindOf(store, toolset.type);
  if (typeof toolset.name !== "object" && kind.is_named) {
    yield textField(store, { path: path("name"), empty: "", help: "The prefix of its tools' names." });
  }
  if (typeof toolset.title !== "object") yield textField(store, { path: path("title"), help: "Users see it instead of the name." });
  yield textField(store, { path: path("description"), rows: 2 });
  for (const one of kind.fields) yield* EDITORS[one.editor](store, index, one, choices);
  yield approvalField(store, path(), "Application default");
  if (kind.is_remote) yield fallbackField(store, path());
  yield userSwitchField(store, path(), "None: always on");
  yield enabledField(store, switched, off);
  if (Array.isArray(toolset.tools) && kind.is_written) yield toolList(store, index, toolset, choices, redraw);
}

/** @param {Store} store @param {number} index @param {CardField} field @param {Choices} choices */
function* serverSettings(store, index, field, choices) {
  const toolset = store.get(at(index));
  /** @param {string} name */
  const info = (name) => at(index, field.path, name);
  if (toolset[field.path]?.protocol !== "stdio") {
    yield textField(store, { path: info("url"), empty: "", isExact: true });
    yield authorizationField(store, info("authorization"), choices, false);
  }
  /** @type {string[] | null} */
  const allowed = toolset.allowed_tools?.length ? toolset.allowed_tools : null;
  const place = element("div", { class: "studio-inner" });
  const status = element("p", { role: "status", class: "studio-quiet" }, allowed ? `Only ${allowed.join(", ")}` : "All tools of the server");
  const list = button("List its tools", async () => {
    status.textContent = "Connecting…";
    try {
      const found = await askServer(store, store.get(at(index, field.path)));
      status.textContent = found.message;
      if (found.needs_sign_in) return;
      const known = found.tools.map(({ name }) => name);
      const gone = (allowed ?? []).filter((name) => !known.includes(name));
      if (gone.length) status.textContent = `The server no longer has ${gone.join(", ")}.`;
      place.replaceChildren(tickList(found.tools, store.get(at(index, "allowed_tools")) ?? null, (ticked) => store.change(at(index, "allowed_tools"), ticked ?? undefined)));
    } catch (error) {
      status.textContent = reasonOf(error);
    }
  });
  yield element("div", { class: "studio-inner" }, element("h4", {}, "Tools"), element("p", { class: "studio-actions" }, list, status), place, findings(store, at(index, "allowed_tools")));
}

/** @param {Store} store @param {number} index @param {Json} toolset @param {Choices} choices @param {(open?: number) => void} redraw */
function toolList(store, index, toolset, choices, redraw) {
  const isRest = toolset.type === "rest-api";
  const add = () => {
    const name = freeName("new_tool", toolset.tools.map(titleOf));
    store.change(at(index, "tools"), [...toolset.tools, emptyTool(name)]);
    redraw(index);
    const last = parts(document, `[data-toolset="${index}"] [data-tool]`, HTMLDetailsElement).at(-1);
    if (last) last.open = true;
    last?.querySelector("summary")?.focus();
  };
  return element(
    "div",
    { class: "studio-inner" },
    element("h4", {}, "Tools"),
    ...toolset.tools.map((/** @type {Json} */ _, /** @type {number} */ number) =>
      toolEditor(store, index, number, choices, () => {
        store.change(at(index, "tools", number), undefined);
        redraw(index);
      }),
    ),
    isRest && element("p", {}, button("Add a tool", add)),
  );
}
