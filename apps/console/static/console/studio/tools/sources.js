// Where new tools come from. Each source is a form of its own, which ends in toolsets of the draft.

import { button, element, newId, quiet } from "../elements.js";
import { addToolsets, freeName, nameOf, plainName } from "./paths.js";
import { askServer, tickList } from "./server-tools.js";
import { emptyTool, titleOf } from "./rest-tool.js";

// Fields of such a form, which belong to no place of the document.
function labelled(label, control, help) {
  control.id ||= newId("source");
  const about = help && element("p", { class: "studio-help", id: `${control.id}-help` }, help);
  if (about) control.setAttribute("aria-describedby", about.id);
  return element("div", { class: "studio-field" }, element("label", { htmlFor: control.id }, label), control, about);
}

// A secret that there is not yet is typed instead, and made when the draft is saved.
const withKnownSecret = (written, secrets, typed = "") =>
  Object.fromEntries(Object.entries(written).map(([key, value]) => [key, value?.$secret && (typed || !secrets.includes(value.$secret)) ? typed : value]));

const line = (properties = {}) => element("input", { type: "text", autocomplete: "off", spellcheck: false, ...properties });

// A button that does something slow; what fails is told beside it.
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
      status.textContent = error.message;
    } finally {
      made.disabled = false;
    }
  }, { class: "workbench-button workbench-primary" });
  return element("div", { class: "studio-actions" }, made, status);
}

async function ask(store, name, body) {
  const response = await store.send(name, body);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? "This server cannot be reached, or you are signed out.");
  return answer;
}

// An MCP server: an address or a registered program, then its tools.
function fromServer(store, choices, done) {
  const address = line({ placeholder: "https://mcp.example.com/mcp", inputMode: "url" });
  const program = element("select", {}, element("option", { value: "" }, "– an address –"), ...choices.servers.map(({ name }) => element("option", { value: name }, name)));
  const place = element("div", { class: "studio-inner" });
  const server = () => (program.value ? { protocol: "stdio", server: program.value } : { url: address.value.trim() });
  program.addEventListener("change", () => (address.disabled = Boolean(program.value)));
  const connect = slow(
    "Connect",
    async () => {
      place.replaceChildren();
      const found = await askServer(store, server());
      const toolset = { type: "mcp", name: plainName(found.name), mcp_server_info: found.server };
      if (found.needs_sign_in) {
        place.replaceChildren(
          element(
            "p",
            { class: "studio-actions" },
            button("Add it: each person signs in", () => done({ ...toolset, mcp_server_info: { ...found.server, authorization: { type: "oauth" } } })),
            button("Add it: with a token", () => done({ ...toolset, mcp_server_info: { ...found.server, authorization: { type: "bearer", token: "" } } })),
          ),
        );
        return found.message;
      }
      let chosen = null;
      const add = button("Add these tools", () => done({ ...toolset, ...(chosen ? { allowed_tools: chosen } : {}) }), { class: "workbench-button workbench-primary" });
      const list = tickList(found.tools, null, (ticked, names) => {
        chosen = ticked;
        add.disabled = !names.length;
      });
      place.replaceChildren(list, element("p", {}, add));
      return found.tools.length ? "Connected." : "Connected. The server offers no tools.";
    },
    "Connecting…",
  );
  return [
    labelled("Address of the server", address),
    choices.servers.length > 0 && labelled("Or a program of this installation", program),
    connect,
    place,
  ];
}

// An OpenAPI document: fetched, pasted or a file; then its operations.
function fromOpenApi(store, choices, done) {
  const address = line({ placeholder: "https://api.example.com/openapi.json", inputMode: "url" });
  const text = element("textarea", { rows: 5, spellcheck: false });
  const file = element("input", { type: "file", accept: ".json,.yaml,.yml" });
  file.addEventListener("change", async () => {
    text.value = (await file.files[0]?.text()) ?? "";
    address.value = "";
  });
  const place = element("div", { class: "studio-inner" });
  const read = slow(
    "Read it",
    async () => {
      place.replaceChildren();
      const found = await ask(store, "openapi", address.value.trim() ? { url: address.value } : { text: text.value });
      place.replaceChildren(...operations(found, choices.secrets, done));
      return `${found.title}: ${found.operations.length} operations.`;
    },
    "Reading…",
  );
  return [labelled("Address of the document", address), labelled("Or a file", file), labelled("Or its text, in JSON or YAML", text), read, place];
}

function* operations(found, secrets, done) {
  const name = line({ value: plainName(found.title) });
  const base = line({ value: found.base_url, placeholder: "https://api.example.com/v1" });
  let chosen = [];
  const tools = new Map(found.operations.map((one) => [one.name || `${one.method} ${one.path}`, one]));
  const add = button(
    "Add these tools",
    () => {
      const toolset = { type: "rest-api", name: plainName(name.value), base_url: base.value.trim() || null };
      if (found.description) toolset.description = found.description.slice(0, 300);
      if (found.authorization) toolset.authorization = withKnownSecret(found.authorization.written, secrets);
      done({ ...toolset, tools: chosen.map((one) => tools.get(one).tool) });
    },
    { class: "workbench-button workbench-primary", disabled: true },
  );
  const rows = [...tools].map(([key, one]) => ({
    ...one,
    name: key,
    description: `${one.method.toUpperCase()} ${one.path}${one.summary ? `: ${one.summary}` : ""}`,
  }));
  yield* found.notes.map((note) => quiet(note));
  yield labelled("Name of the toolset", name);
  yield labelled("Address of the service", base);
  if (found.authorization?.secret) yield quiet(`The service wants to know who is calling. Type its credential under Settings, or choose a secret there.`);
  yield tickList(rows, [], (_, ticked) => {
    chosen = ticked;
    add.disabled = !ticked.length;
  });
  yield element("p", {}, add);
}

// A curl command: one tool, in a toolset of its own or in one of the same service.
function fromCurl(store, choices, done) {
  const text = element("textarea", { rows: 4, spellcheck: false, placeholder: "curl https://api.example.com/v1/parcels/{id} -H 'X-API-Key: …'" });
  const place = element("div", { class: "studio-inner" });
  const read = slow(
    "Read it",
    async () => {
      place.replaceChildren();
      const found = await ask(store, "curl", { text: text.value });
      place.replaceChildren(...command(store, choices.secrets, found, done));
      return "";
    },
    "Reading…",
  );
  return [labelled("Command", text, "It is read, not run. A credential in it is taken out."), read, place];
}

function* command(store, secrets, found, done) {
  const { method_url: url, method_type: method } = found.tool.rest_api_method_info;
  const same = (store.get("tool_sets") ?? []).findIndex(({ type, base_url: base }) => type === "rest-api" && base === found.base_url);
  yield element("p", {}, element("code", {}, `${method.toUpperCase()} ${found.base_url}${url}`));
  yield* found.notes.map((note) => quiet(note));
  const keep = element("input", { type: "checkbox", id: newId("keep"), checked: true });
  if (found.credential) {
    yield element("p", {}, keep, " ", element("label", { htmlFor: keep.id }, "Keep its credential as a secret"));
    yield quiet(`Saving makes the secret; the application only names it. Otherwise it is dropped here.`);
  }
  yield element("p", {}, button("Add this tool", () => {
    const typed = keep.checked ? found.credential : "";
    const authorization = found.authorization && withKnownSecret(found.authorization.written, secrets, typed);
    if (same >= 0) return done(intoToolset(store, same, found.tool, authorization));
    const name = plainName(new URL(found.base_url).hostname.split(".").slice(-2)[0]);
    done({ type: "rest-api", name, base_url: found.base_url, ...(authorization ? { authorization } : {}), tools: [found.tool] });
  }, { class: "workbench-button workbench-primary" }));
}

function intoToolset(store, index, tool, authorization) {
  const path = `tool_sets[${index}]`;
  const tools = store.get(`${path}.tools`) ?? [];
  const told = tool.open_ai_tool.function;
  told.name = freeName(told.name, tools.map(titleOf));
  store.change(`${path}.tools`, [...tools, tool]);
  if (authorization && !store.get(`${path}.authorization`)) store.change(`${path}.authorization`, authorization);
  return index;
}

// What this installation has ready, with words for each.
function fromPredefined(store, choices, done) {
  const place = element("div", { class: "studio-inner" }, quiet("Looking…"));
  fetch(store.data.urls.predefined)
    .then((response) => response.json())
    .then(({ toolsets }) => {
      const has = (store.get("tool_sets") ?? []).map(nameOf);
      const rows = toolsets.map((one) =>
        element(
          "li",
          {},
          element(
            "div",
            {},
            element("strong", {}, one.title),
            one.description && element("p", { class: "studio-clamp" }, one.description),
            quiet(one.tools ? one.tools.join(", ") : "the tools that its server has"),
          ),
          has.includes(nameOf(one.toolset)) ? quiet("added") : button("Add", () => done(structuredClone(one.toolset)), { "aria-label": `Add ${one.title}` }),
        ),
      );
      place.replaceChildren(
        rows.length ? element("ul", { class: "studio-offers" }, ...rows) : quiet("There is no predefined toolset."),
        element("p", { class: "studio-quiet" }, "Tools of the platform for the time, files, the Web and questions to people are switched on under ", element("a", { href: "#behaviour" }, "Behaviour"), "."),
      );
    })
    .catch(() => place.replaceChildren(element("p", { class: "studio-error" }, "This server cannot be reached, or you are signed out.")));
  return [place];
}

// Another application or a model, asked as a tool.
function fromApplication(store, choices, done) {
  const options = [
    ...choices.applications.map(({ id, name }) => [id, `${name} (application)`]),
    ...choices.deployments.map(({ id, name }) => [id, `${name} (model)`]),
  ];
  if (!options.length) return [quiet("There is no other application, and no deployment.")];
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  const add = button(
    "Add it",
    () => {
      const index = (store.get("tool_sets") ?? []).findIndex(({ type }) => type === "dial-deployment");
      const tool = { type: "dial-deployment-simple", deployment_id: select.value };
      if (index < 0) return done({ type: "dial-deployment", name: "assistants", tools: [tool] });
      const path = `tool_sets[${index}].tools`;
      const before = store.get(path);
      if (!before.some(({ deployment_id: id }) => id === select.value)) store.change(path, [...before, tool]);
      done(index);
    },
    { class: "workbench-button workbench-primary" },
  );
  return [labelled("What is asked", select, "The model asks it a question, and gets its answer as the result."), element("p", {}, add)];
}

// A REST service of which there is no document.
function byHand(store, choices, done) {
  const address = line({ placeholder: "https://api.example.com/v1", inputMode: "url" });
  const add = button("Add it", () => {
    const host = URL.canParse(address.value) ? new URL(address.value).hostname.split(".").slice(-2)[0] : "service";
    done({ type: "rest-api", name: plainName(host), base_url: address.value.trim() || null, tools: [emptyTool("new_tool")] });
  }, { class: "workbench-button workbench-primary" });
  return [labelled("Address of the service", address), element("p", {}, add)];
}

const SOURCES = [
  ["An MCP server", fromServer],
  ["An OpenAPI document", fromOpenApi],
  ["A curl command", fromCurl],
  ["Predefined", fromPredefined],
  ["Another application", fromApplication],
  ["A REST service by hand", byHand],
];

// `done(toolset)` adds one, `done(index)` tells which one it went into.
export function addBar(store, choices, added) {
  const place = element("div", { class: "studio-source" });
  const buttons = SOURCES.map(([title, make]) => {
    const one = button(title, () => {
      const wasOpen = one.getAttribute("aria-expanded") === "true";
      for (const other of buttons) other.setAttribute("aria-expanded", "false");
      place.replaceChildren();
      if (wasOpen) return;
      one.setAttribute("aria-expanded", "true");
      const done = (toolset) => added(typeof toolset === "number" ? toolset : addToolsets(store, toolset));
      place.append(element("div", { class: "studio-card", role: "group", "aria-label": title }, ...make(store, choices, done).filter(Boolean)));
      place.querySelector("input, textarea, select, button")?.focus();
    }, { "aria-expanded": "false" });
    return one;
  });
  return element("div", { class: "studio-inner", "data-add": "" }, element("h3", {}, "Add tools from"), element("p", { class: "studio-actions" }, ...buttons), place);
}
