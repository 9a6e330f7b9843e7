// The contents of a tool source, to be selected and added: a server, an OpenAPI document, a curl command.

import { button, element, newId, quiet } from "../elements.js";
import { freeName, plainName, plural } from "./paths.js";
import { tickList } from "./server-tools.js";
import { titleOf } from "./rest-tool.js";
import { UNREACHABLE } from "../../parts.js";

/**
 * @import { Field } from "../../parts.js"
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 * @import { FoundServer } from "./server-tools.js"
 *
 * @typedef {(added: Json | number) => void} Done adds a toolset, or takes the index of the toolset that got the tools
 *
 * @typedef {{name?: string, method: string, path: string, summary?: string, tool: Json}} Operation
 * @typedef {{title: string, description?: string, base_url: string, operations: Operation[], notes: string[],
 *   authorization?: {written: Json, secret?: string} | null}} FoundService
 * @typedef {{tool: Json, base_url: string, notes: string[], credential?: string,
 *   authorization?: {written: Json} | null}} FoundCommand
 */

// The maximum number of read-only operations that are selected by default, because each costs tokens.
const MOST_TICKED = 20;

/**
 * A field that has no path in the document.
 * @param {string} label @param {Field} control @param {string} [help]
 */
export function labelled(label, control, help) {
  control.id ||= newId("source");
  const about = help && element("p", { class: "studio-help", id: `${control.id}-help` }, help);
  if (about) control.setAttribute("aria-describedby", about.id);
  return element("div", { class: "studio-field" }, element("label", { htmlFor: control.id }, label), control, about);
}

/**
 * The user types a secret that does not exist yet. Saving the draft creates it.
 * @param {Json} written @param {string[]} secrets
 */
const withKnownSecret = (written, secrets, typed = "") =>
  Object.fromEntries(Object.entries(written).map(([key, value]) => [key, value?.$secret && (typed || !secrets.includes(value.$secret)) ? typed : value]));

/** @param {Json} properties */
export const line = (properties = {}) => element("input", { type: "text", autocomplete: "off", spellcheck: false, ...properties });

/** @param {Store} store @param {string} name @param {object} body @returns {Promise<any>} */
export async function ask(store, name, body) {
  const response = await store.send(name, body);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? UNREACHABLE);
  return answer;
}

/**
 * `done(toolset)` adds the selection, here and below. For a server that is registered as `template`, it adds only a reference.
 * @param {FoundServer} found @param {(toolset: Json) => void} done @param {string} [template]
 */
export function serverFound(found, done, template) {
  const reference = { type: "predefined", template_name: template };
  const toolset = { type: "mcp", name: plainName(found.name), mcp_server_info: found.server };
  /** @param {Json} authorization */
  const withSignIn = (authorization) => done({ ...toolset, mcp_server_info: { ...found.server, authorization } });
  if (found.needs_sign_in && template) return [element("p", {}, button("Add", () => done(reference)))];
  if (found.needs_sign_in) {
    return [
      element(
        "p",
        { class: "studio-actions" },
        button("Add: each user signs in", () => withSignIn({ type: "oauth" })),
        button("Add: with a token", () => withSignIn({ type: "bearer", token: "" })),
      ),
    ];
  }
  /** @type {string[] | null} */
  let chosen = null;
  const written = () => {
    const allowed = chosen ? { allowed_tools: chosen } : {};
    if (!template) return { ...toolset, ...allowed };
    return chosen ? { ...reference, override: allowed } : reference;
  };
  const add = button("Add these tools", () => done(written()), { class: "console-button console-primary" });
  const list = tickList(found.tools, null, (ticked, names) => {
    chosen = ticked;
    add.disabled = !names.length;
  });
  return [quiet(found.tools.length ? "Connected." : "Connected. The server offers no tools."), list, element("p", {}, add)];
}

/** @param {FoundService} found @param {string[]} secrets @param {Done} done */
export function* serviceFound(found, secrets, done) {
  const name = line({ value: plainName(found.title) });
  const base = line({ value: found.base_url, placeholder: "https://api.example.com/v1" });
  /** @type {string[]} */
  let chosen = [];
  const tools = new Map(found.operations.map((one) => [one.name || `${one.method} ${one.path}`, one]));
  const add = button(
    "Add these tools",
    () => {
      /** @type {Json} */
      const toolset = { type: "rest-api", name: plainName(name.value), base_url: base.value.trim() || null };
      if (found.description) toolset.description = found.description.slice(0, 300);
      if (found.authorization) toolset.authorization = withKnownSecret(found.authorization.written, secrets);
      done({ ...toolset, tools: chosen.map((one) => tools.get(one)?.tool) });
    },
    { class: "console-button console-primary", disabled: true },
  );
  const rows = [...tools].map(([key, one]) => ({
    ...one,
    name: key,
    description: `${one.method.toUpperCase()} ${one.path}${one.summary ? `: ${one.summary}` : ""}`,
  }));
  yield quiet(`${found.title}: ${plural(found.operations.length, "operation")}. Read-only operations are selected.`);
  yield* found.notes.map((note) => quiet(note));
  yield labelled("Toolset name", name);
  yield labelled("Service URL", base);
  if (found.authorization?.secret) yield quiet(`The service requires authentication. Enter its credential under Settings, or choose a secret there.`);
  const reading = found.operations.filter(({ method }) => method === "get").length;
  const ticked = reading <= MOST_TICKED ? rows.filter(({ method }) => method === "get").map(({ name: key }) => key) : [];
  yield tickList(rows, ticked, (_, ticked) => {
    chosen = ticked;
    add.disabled = !ticked.length;
  });
  yield element("p", {}, add);
}

/** @param {Store} store @param {string[]} secrets @param {FoundCommand} found @param {Done} done */
export function* commandFound(store, secrets, found, done) {
  const { method_url: url, method_type: method } = found.tool.rest_api_method_info;
  /** @type {Json[]} */
  const toolsets = store.get("tool_sets") ?? [];
  const same = toolsets.findIndex(({ type, base_url: base }) => type === "rest-api" && base === found.base_url);
  yield element("p", {}, element("code", {}, `${method.toUpperCase()} ${found.base_url}${url}`));
  yield* found.notes.map((note) => quiet(note));
  const keep = element("input", { type: "checkbox", id: newId("keep"), checked: true });
  if (found.credential) {
    yield element("p", {}, keep, " ", element("label", { htmlFor: keep.id }, "Store its credential as a secret"));
    yield quiet(`The secret is created when you save; the application only refers to it. Otherwise the credential is discarded.`);
  }
  yield element("p", {}, button("Add this tool", () => {
    const typed = keep.checked ? found.credential : "";
    const authorization = found.authorization && withKnownSecret(found.authorization.written, secrets, typed);
    if (same >= 0) return done(intoToolset(store, same, found.tool, authorization));
    const name = plainName(new URL(found.base_url).hostname.split(".").slice(-2)[0]);
    done({ type: "rest-api", name, base_url: found.base_url, ...(authorization ? { authorization } : {}), tools: [found.tool] });
  }, { class: "console-button console-primary" }));
}

/** @param {Store} store @param {number} index @param {Json} tool @param {Json | null | undefined} authorization */
function intoToolset(store, index, tool, authorization) {
  const path = `tool_sets[${index}]`;
  const tools = store.get(`${path}.tools`) ?? [];
  const told = tool.open_ai_tool.function;
  told.name = freeName(told.name, tools.map(titleOf));
  store.change(`${path}.tools`, [...tools, tool]);
  if (authorization && !store.get(`${path}.authorization`)) store.change(`${path}.authorization`, authorization);
  return index;
}
