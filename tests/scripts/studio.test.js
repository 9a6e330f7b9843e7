/** The studio: the draft that all its sections change, what was found in it, and what can be done with it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Network } from "./support/network.js";
import { documentOf, openTab, openWindow, textOf } from "./support/tab.js";
import { found, plain, settle, until } from "./support/until.js";

const ADDRESS = "/admin/catalog/application/1/studio/";
const STATE = { name: "draft", title: "Draft", number: 1, has_draft: true, can_discard: true, can_publish: true, takes_two: false, notice: "", take_over: "" };
const DOCUMENT = { orchestrator: { deployment: { deployment_id: "demo" } }, tool_sets: [{ name: "a" }, { name: "b" }] };

/** A store of the draft, outside of a page. */
async function newStore(t, changes = {}) {
  const tab = await openWindow(t);
  const { Store } = await tab.scripts.import("/static/console/studio/store.js");
  const data = { manifest: structuredClone(DOCUMENT), title: "Desk", description: "", icon: "", skills: {}, version: 3, state: STATE, urls: {}, ...changes };
  const store = new Store(data);
  const told = [];
  store.subscribe((what) => told.push(what));
  return { tab, store, told };
}

test("a change creates the objects around it, and removing it leaves them", async (t) => {
  const { store, told } = await newStore(t);
  store.change("features.memory.enabled", true);
  store.change("conversation_starters.starters[0].text", "Hello");
  assert.deepEqual(plain([store.get("features"), store.get("conversation_starters")]), [
    { memory: { enabled: true } },
    { starters: [{ text: "Hello" }] },
  ]);

  store.change("features.memory.enabled", undefined);
  store.change("nowhere.at.all", undefined);

  assert.deepEqual(plain(store.get("features")), { memory: {} });
  assert.equal(store.get("nowhere"), undefined);
  assert.deepEqual(told, ["change", "change", "change"]);
});

test("an item that is removed from a list closes the gap", async (t) => {
  const { store } = await newStore(t);
  store.change("tool_sets[0]", undefined);
  assert.deepEqual(plain(store.get("tool_sets")), [{ name: "b" }]);
});

test("paths with odd names are read and written alike", async (t) => {
  const tab = await openWindow(t);
  const { join, split } = await tab.scripts.import("/static/console/manifest/paths.js");
  for (const path of ["a.b[2].c", 'tool_sets[0]["odd key"].name', '["quo\\"te"]', "skills.tone-of-voice"]) {
    assert.equal(join(split(path)), path);
  }
  assert.deepEqual(plain([split("$"), split("")]), [[], []]);
});

test("a draft counts as changed until it equals the stored one", async (t) => {
  const { store } = await newStore(t);
  assert.equal(store.isChanged, false);
  store.name({ title: "Other" });
  assert.equal(store.isChanged, true);
  store.name({ title: "Desk" });
  assert.equal(store.isChanged, false);
  store.change("tool_sets[1].name", "c");
  assert.equal(store.isChanged, true);
  store.keep({ ...store.current, version: 4, state: STATE });
  assert.deepEqual([store.isChanged, store.version], [false, 4]);
});

test("findings belong to their place, and to the places around it", async (t) => {
  const { store, told } = await newStore(t);
  const findings = ["tool_sets[0].name", "tool_sets[1]", "tool_sets_more", "skills/tone/SKILL.md"].map((path) => ({ path, severity: "error", message: "" }));
  store.found(findings);
  const at = (...asked) => store.findingsAt(...asked).map(({ path }) => path);

  assert.deepEqual(at("tool_sets"), ["tool_sets[0].name", "tool_sets[1]"]);
  assert.deepEqual(at("tool_sets[0]"), ["tool_sets[0].name"]);
  assert.deepEqual(at("tool_sets[0]", true), []);
  assert.deepEqual(at("skills/tone"), ["skills/tone/SKILL.md"]);
  assert.deepEqual(told, ["findings"]);
});

test("the menu counts an issue only in the section to which it leads", async (t) => {
  const tab = await openStudio(t, { findings: [{ severity: "error", path: "features.rate_limits.requests_per_minute", message: "is wrong" }] });

  await tab.shows(".studio-checked", "1 error");
  const marks = tab.all("[data-menu] a").filter((link) => textOf(link.querySelector(".studio-mark"))).map(textOf);
  assert.deepEqual(marks, ["Limits1, 1 error"]);
});

test("a field for a number asks once for a valid one", async (t) => {
  const path = (name) => `features.rate_limits.${name}_per_minute`;
  const findings = [
    { severity: "error", path: path("requests"), message: "expected 0 or more, found the integer -5" },
    { severity: "error", path: path("tokens"), message: 'expected an integer, found the string "abc"' },
  ];
  const tab = await openStudio(t, { hash: "#limits", findings });
  const requests = await tab.field("Requests per minute");
  tab.fill(requests, "-5");
  const tokens = await tab.field("Tokens per minute");
  const notes = (field) => [...field.closest(".studio-field").querySelectorAll(".studio-finding")].map(textOf);

  await until(() => notes(tokens), ["Error: Enter a whole number."]);
  assert.deepEqual(notes(requests), ["Error: Enter 0 or more."]);
});

test("listeners of elements that left the page are forgotten", async (t) => {
  const { tab, store } = await newStore(t);
  const owner = tab.document.createElement("p");
  tab.document.body.append(owner);
  const heard = [];
  store.subscribe((what) => heard.push(what), owner);
  store.tell("findings");
  owner.remove();
  store.tell("findings");
  tab.document.body.append(owner);
  store.tell("findings");
  assert.deepEqual(heard, ["findings"]);
});

test("a draft is checked once the person pauses, and the newest check counts", async (t) => {
  const { tab, store, told } = await newStore(t, { urls: { check: "/check/" }, csrf: "token" });
  const { Checker } = await tab.scripts.import("/static/console/studio/checker.js");
  const held = [];
  tab.network.answer("POST /check/", ({ body, headers }) => new Promise((resolve) => held.push({ body, headers, resolve })));
  new Checker(store);

  store.change("tool_sets[0].name", "x");
  store.change("tool_sets[0].name", "xy");
  await until(() => held.length, 1);
  store.change("tool_sets[0].name", "xyz");
  await until(() => held.length, 2);
  held[1].resolve({ findings: [{ path: "new" }] });
  await until(() => store.findings.map(({ path }) => path), ["new"]);
  held[0].resolve({ findings: [{ path: "old" }] });
  await settle();

  assert.deepEqual(store.findings.map(({ path }) => path), ["new"]);
  assert.deepEqual(held.map(({ body }) => body.manifest.tool_sets[0].name), ["xy", "xyz"]);
  assert.equal(held[0].headers["X-CSRFToken"], "token");
  assert.equal(told.filter((what) => what === "settled").length, 2);
});

/** The page of the studio. */
async function openStudio(t, { hash = "#starters", findings = [], offered = {}, change } = {}) {
  const network = new Network();
  const choices = { deployments: [], applications: [], prompts: [], skills: [], agents: [], files: [], secrets: [], servers: [], registered: [], places: [], add: {}, ...offered };
  network.answer(`GET ${ADDRESS}choices/`, choices);
  network.answer(`POST ${ADDRESS}check/`, { findings });
  const tab = await openTab(t, "studio", { path: ADDRESS + hash, network, change });
  await until(() => tab.find("[data-studio]").dataset.ready, "");
  return tab;
}

const QUESTION = "Question";
const status = (tab) => textOf(tab.find(".studio-bar .studio-status"));
const sent = (tab, name) => tab.network.sent(`${ADDRESS}${name}/`).map(({ body }) => body);

/** Answer a request of the studio once it is saved. */
function stored(tab, name, more = {}) {
  tab.network.answer(`POST ${ADDRESS}${name}/`, ({ body }) => ({ ...body, version: 1, state: STATE, message: "Saved.", ...more }));
}

test("the menu opens a section, whose heading gets the focus", async (t) => {
  const tab = await openStudio(t);
  assert.equal(textOf(tab.find("#studio-section")), "Starters");

  tab.window.location.hash = "#limits";
  tab.window.dispatchEvent(new tab.window.Event("hashchange"));

  await until(() => textOf(tab.find("#studio-section")), "Limits");
  assert.equal(tab.focused, tab.find("#studio-section"));
  assert.deepEqual(tab.texts("[data-menu] a[aria-current]"), ["Limits"]);
});

test("the menu and the bar count the mistakes, and the bar lists them", async (t) => {
  const findings = [
    { path: "conversation_starters.starters[0].text", label: "The first question", severity: "error", message: "is empty" },
    { path: "conversation_starters.starters[1].text", label: "The second question", severity: "error", message: "is empty" },
    { path: "orchestrator.deployment", label: "Model", severity: "warning", message: "is slow" },
  ];
  const tab = await openStudio(t, { findings });

  await tab.shows(".studio-checked", "2 errors, 1 warning");
  const marks = tab.all("[data-menu] a").filter((link) => textOf(link.querySelector(".studio-mark"))).map(textOf);
  assert.deepEqual(marks, ["Model1, 1 warning", "Starters2, 2 errors"]);
  await tab.shows(".studio-blocked span", "Fix 2 errors before you publish.");
  assert.equal(tab.find(".studio-bar .console-primary:not([hidden])").getAttribute("aria-disabled"), "true");
  tab.find(".studio-checked").click();
  await tab.shows(
    ".studio-details li",
    "Error The first question is empty",
    "Error The second question is empty",
    "Warning Model is slow",
  );
  assert.equal(tab.find(".studio-details a").title, "orchestrator.deployment");
});

test("a mistake is shown at its field", async (t) => {
  const path = "conversation_starters.starters[0].text";
  const tab = await openStudio(t, { findings: [{ path, severity: "error", message: "is empty" }] });
  const field = await tab.field(QUESTION);

  await until(() => field.getAttribute("aria-invalid"), "true");
  const described = field.getAttribute("aria-describedby").split(" ").map((id) => textOf(tab.document.getElementById(id)));
  assert.deepEqual(described, ["", "Error: is empty"]);
});

test("the button of a starter follows its question until its text is edited", async (t) => {
  const tab = await openStudio(t);
  const [question, words] = [await tab.field(QUESTION), await tab.field("Button")];
  tab.fill(question, "Find parcel 7");
  assert.equal(words.value, "Find parcel 7");
  await tab.shows(".studio-preview-starters li", "Find parcel 7");
  tab.fill(words, "Parcel");
  tab.fill(question, "Find parcel 8");

  assert.equal(words.value, "Parcel");
  await tab.shows(".studio-preview-starters li", "Parcel");
  await tab.shows(".studio-saved", "Not saved yet");
});

test("sub-agents are declared with their toolsets, and the general-purpose one is switched off", async (t) => {
  const tab = await openStudio(t, {
    hash: "#tools",
    change: (document) => {
      const data = document.getElementById("studio-data");
      const page = JSON.parse(data.textContent);
      page.manifest.tool_sets = DOCUMENT.tool_sets;
      data.textContent = JSON.stringify(page);
    },
  });
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  const card = await tab.appears('[data-platform="subagents"]');
  stored(tab, "save");

  (await tab.field("Sub-agents", card)).click();
  (await tab.field("General-purpose sub-agent", card)).click();
  await tab.click("Add a sub-agent", card);
  const type = tab.find('[data-subagent="0"]');
  assert.equal(tab.focused, await tab.field("Name", type));
  tab.fill(await tab.field("Name", type), "scout");
  tab.fill(await tab.field("Prompt", type), "Look ahead.");
  (await tab.field("Choose its toolsets", type)).click();
  for (const name of ["b", "a"]) (await tab.field(name, type)).click();
  tab.press(tab.document.body, "Control+s");

  await until(() => status(tab), "Saved.");
  assert.deepEqual(plain(sent(tab, "save")[0].manifest.features.subagents), {
    enabled: true,
    general_purpose: null,
    types: [{ name: "scout", description: "", system_prompt: "Look ahead.", tool_sets: ["b", "a"] }],
  });
});

test("Ctrl+S saves the draft with its base", async (t) => {
  const tab = await openStudio(t);
  stored(tab, "save");
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  tab.press(tab.document.body, "Control+s");

  await until(() => status(tab), "Saved.");
  const [{ manifest, base, version, choices }] = sent(tab, "save");
  assert.deepEqual([manifest.conversation_starters, base.manifest.conversation_starters, version, choices], [
    { starters: [{ text: "Find parcel 7", title: "Find parcel 7" }] },
    undefined,
    0,
    {},
  ]);
  await tab.shows(".studio-state", "Draft");
});

test("text that is typed while the draft is being saved is kept", async (t) => {
  const tab = await openStudio(t);
  let release;
  tab.network.answer(`POST ${ADDRESS}save/`, ({ body }) => new Promise((resolve) => (release = () => resolve({ ...body, version: 1, state: STATE, message: "Saved." }))));
  const question = await tab.field(QUESTION);
  tab.fill(question, "Find parcel 7");
  tab.press(tab.document.body, "Control+s");
  await until(() => typeof release, "function");
  tab.fill(question, "Find parcel 8");
  release();

  await until(() => status(tab), "Saved.");
  await tab.shows(".studio-saved", "Not saved yet");
  assert.equal((await tab.field(QUESTION)).value, "Find parcel 8");
});

test("a draft is saved by itself after a pause, and the field keeps the focus and its text", async (t) => {
  const tab = await openStudio(t);
  stored(tab, "save");
  const question = await tab.field(QUESTION);
  question.focus();
  tab.fill(question, "Find parcel 7");
  await tab.shows(".studio-saved", "Not saved yet");

  await tab.shows(".studio-saved", "Saved");
  const [{ manifest, is_automatic }] = sent(tab, "save");
  assert.deepEqual([manifest.conversation_starters.starters[0].text, is_automatic], ["Find parcel 7", true]);
  assert.equal(status(tab), "");
  assert.equal(await tab.field(QUESTION), question);

  tab.fill(question, "Find parcel 8");
  await until(() => sent(tab, "save").length, 2);
  const { base, version } = sent(tab, "save")[1];
  assert.deepEqual([base.manifest.conversation_starters.starters[0].text, version], ["Find parcel 7", 1]);
});

test("the draft is compared with the live version only once there is one", async (t) => {
  /** @param {number} number of the live version */
  const withLive = (number) => (document) => {
    const data = document.getElementById("studio-data");
    data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), state: { ...STATE, number } });
  };
  const before = await openStudio(t, { change: withLive(0) });
  const after = await openStudio(t, { change: withLive(1) });

  assert.deepEqual([before, after].map((tab) => tab.find("[data-beside]").disabled), [true, false]);
});

test("a save that succeeds takes back the words of one that failed", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}save/`, () => Response.json({ message: "Not saved: Title: This field is required." }, { status: 400 }));
  const question = await tab.field(QUESTION);
  tab.fill(question, "Find parcel 7");
  await until(() => status(tab), "Not saved: Title: This field is required.");

  stored(tab, "save");
  tab.fill(question, "Find parcel 8");

  await tab.shows(".studio-saved", "Saved");
  assert.equal(status(tab), "");
});

test("what others saved is drawn once nobody types in the section, and nothing typed is lost", async (t) => {
  const tab = await openStudio(t);
  const others = { starters: [{ title: "Theirs", text: "Theirs" }] };
  stored(tab, "save", { manifest: { conversation_starters: others }, message: "Saved. Ben saved this draft just now. Both edits were merged." });
  const question = await tab.field(QUESTION);
  question.focus();
  tab.fill(question, "Mine");
  await until(() => status(tab), "Saved. Ben saved this draft just now. Both edits were merged.");
  assert.equal(question.value, "Mine");

  question.blur();

  await tab.shows(".studio-preview-starters li", "Theirs");
});

test("a credential is saved when its field is left, not while it is typed", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}save/`, Response.json({ message: "Not saved yet." }, { status: 202 }));
  const question = await tab.field(QUESTION);
  question.focus();
  tab.fill(question, "sk-1");
  await until(() => sent(tab, "save").length, 1);
  await tab.shows(".studio-saved", "Not saved yet");
  stored(tab, "save");

  question.blur();

  await tab.shows(".studio-saved", "Saved");
  assert.deepEqual(sent(tab, "save").map(({ is_automatic }) => is_automatic), [true, false]);
});

test("a refused field keeps what was typed, and the bar names it", async (t) => {
  const tab = await openStudio(t);
  const message = "Not saved: Title: This field is required.";
  stored(tab, "save", { title: "Page tests", refused: ["title"], message });
  const question = await tab.field(QUESTION);
  tab.fill(question, "Find parcel 7");
  await until(() => status(tab), message);

  await tab.shows(".studio-saved", "Saving failed");
  assert.equal((await tab.field(QUESTION)).value, "Find parcel 7");
});

test("a number that is none is kept as it was typed", async (t) => {
  const tab = await openStudio(t, { hash: "#limits" });
  stored(tab, "save");
  const rounds = await tab.field("Maximum model calls");
  tab.fill(rounds, "5x");
  await tab.shows(".studio-saved", "Saved");
  tab.fill(rounds, " 7 ");
  await until(() => sent(tab, "save").length, 2);

  assert.deepEqual(sent(tab, "save").map(({ manifest }) => manifest.orchestrator.max_iterations), ["5x", 7]);
});

test("links that leave the studio open another tab", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`GET ${ADDRESS}panels/versions/`, () => new Response('<p><a href="/versions/">All versions (1)</a></p>'));
  tab.window.location.hash = "#versions";
  tab.window.dispatchEvent(new tab.window.Event("hashchange"));
  await tab.appears(".studio-body a", "All versions (1)");
  const links = tab.all("[data-section] a, [data-bar] a");
  assert.deepEqual([...new Set(links.map((link) => link.getAttribute("target") ?? link.target))], ["_blank"]);
});

/** Choose an option in the list of a field for named things. */
async function pick(tab, field, option) {
  await tab.click(new RegExp(`^${field}:`));
  const listed = await found(() => tab.all(`[role=listbox][aria-label="${field}"] [role=option]`).find((one) => textOf(one).startsWith(option)));
  listed.click();
}

test("an application is found in a list with search, and a list without choices leads to the form for one", async (t) => {
  const applications = Array.from({ length: 9 }, (_, at) => ({ id: `desk-${at}`, name: `Desk ${at}` }));
  const tab = await openStudio(t, { hash: "#tools", offered: { applications, add: { address: "/register/" } } });
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  await pick(tab, "Or add from", "MCP server");
  const group = await tab.appears("[role=group][aria-label='MCP server']");
  assert.equal(group.querySelector("choice-list").hidden, true);
  assert.ok(textOf(group).includes("No servers registered yet.Register a server for all applications"));

  await pick(tab, "Or add from", "Another application");
  assert.equal((await tab.appears("[role=group] > p > button", "Add")).disabled, true);
  await tab.click("Deployment: Choose one");
  const search = tab.find("choice-list [type=search]");
  assert.equal(tab.focused, search);
  tab.fill(search, "desk 7");
  await tab.shows("[role=listbox][aria-label=Deployment] .choice-option", "Desk 7Application");
  tab.press(search, "Enter");
  await tab.click("Add", tab.find("[data-add] [role=group]"));

  await until(() => sent(tab, "save").length, 1);
  const [{ tools }] = sent(tab, "save")[0].manifest.tool_sets;
  assert.deepEqual(tools, [{ type: "dial-deployment-simple", deployment_id: "desk-7" }]);
});

test("what is added in another tab can be chosen when the user returns", async (t) => {
  const tab = await openStudio(t, { hash: "#tools", offered: { add: { address: "/register/" } } });
  await pick(tab, "Or add from", "MCP server");
  const list = tab.find("[role=group] choice-list");
  assert.equal(list.hidden, true);

  const registered = [{ template: "desk", title: "Desk" }];
  tab.network.answer(`GET ${ADDRESS}choices/`, { registered, servers: [], add: {} });
  tab.document.dispatchEvent(new tab.window.Event("visibilitychange"));

  await until(() => list.hidden, false);
  await pick(tab, "Or a registered server", "Desk");
  await tab.button("Or a registered server: Desk");
});

for (const section of ["instructions", "model", "tools", "files", "starters", "behaviour", "limits"]) {
  test(`all fields of the section ${section} have a label`, async (t) => {
    const tab = await openStudio(t, { hash: `#${section}` });
    tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
    await tab.appears("[data-section] .studio-label");
    for (const control of tab.all("[data-section] [role=switch]")) if (!control.checked) control.click();
    for (const fold of tab.all("[data-section] details")) fold.open = true;

    const unnamed = tab.all("[data-section] .studio-label").filter((one) => !textOf(one.querySelector("label, strong")));

    assert.deepEqual(unnamed.map(textOf), []);
  });
}

test("a registered server is chosen by its name, with those of its tools that are ticked", async (t) => {
  const tab = await openStudio(t, { hash: "#tools", offered: { registered: [{ template: "desk", title: "Desk" }] } });
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  tab.network.answer(`POST ${ADDRESS}tools/mcp/`, { tools: [{ name: "find" }, { name: "remove" }], message: "", name: "desk", server: {} });
  await pick(tab, "Or add from", "MCP server");
  await pick(tab, "Or a registered server", "Desk");
  await tab.click("Connect");
  await tab.appears(".studio-ticks", "remove");

  tab.find(".studio-ticks input[value=remove]").click();
  await tab.click("Add these tools");

  await until(() => sent(tab, "save").length, 1);
  assert.deepEqual(sent(tab, "tools/mcp"), [{ template: "desk" }]);
  assert.deepEqual(sent(tab, "save")[0].manifest.tool_sets, [{ type: "predefined", template_name: "desk", override: { allowed_tools: ["find"] } }]);
});

test("many operations of a document are found by words of their names and descriptions", async (t) => {
  const tab = await openStudio(t, { hash: "#tools" });
  const operations = Array.from({ length: 24 }, (_, at) => ({ name: `op_${at}`, method: "get", path: `/${at}`, summary: at % 2 ? "Odd" : "Even", tool: {} }));
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  tab.network.answer(`POST ${ADDRESS}tools/openapi/`, { title: "Shop", base_url: "https://api.example.com", description: "", authorization: null, notes: [], operations });
  await pick(tab, "Or add from", "OpenAPI document");
  tab.fill(await tab.field("Document URL"), "https://api.example.com/openapi.json");
  await tab.click("Read");
  await tab.appears(".studio-ticks", "op_23");

  tab.fill(await tab.field("Find a tool"), "ODD op_1");

  const shown = tab.all(".studio-ticks li").filter((row) => !row.hidden);
  assert.equal(tab.all(".studio-ticks li").length, 24);
  assert.deepEqual(shown.map((row) => row.querySelector("input").value), ["op_1", "op_11", "op_13", "op_15", "op_17", "op_19"]);
});

test("a kind of toolset that its card completes can be added by its name", async (t) => {
  const kind = { title: "Lottery", fields: [{ editor: "number", path: "highest", label: "Highest number", placeholder: "" }], is_named: true, is_addable: true };
  const tab = await openStudio(t, {
    hash: "#tools",
    change: (document) => {
      const data = document.getElementById("studio-data");
      data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), kinds: { lottery: kind } });
    },
  });
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  await pick(tab, "Or add from", "Lottery");
  await tab.click("Add");
  tab.fill(await tab.field("Highest number"), "49");

  await until(() => sent(tab, "save").at(-1)?.manifest.tool_sets, [{ type: "lottery", name: "Lottery", highest: 49 }]);
});

test("the card of a toolset shows whether users can switch it, and changes that", async (t) => {
  const tab = await openStudio(t, {
    hash: "#tools",
    change: (document) => {
      const data = document.getElementById("studio-data");
      const page = JSON.parse(data.textContent);
      page.manifest.tool_sets = [{ type: "predefined", template_name: "web", override: { user_switch: "off" } }];
      data.textContent = JSON.stringify(page);
    },
  });
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  await tab.shows(".studio-toolset header .studio-quiet", "Predefined · users can turn it on");

  tab.find(".studio-toolset summary").click();
  tab.choose(await tab.field("Switch for users"), "on");

  await until(() => sent(tab, "save").at(-1)?.manifest.tool_sets[0].override, { user_switch: "on" });
});

test("an uploaded file becomes a context of the draft, which the model can search", async (t) => {
  const tab = await openStudio(t, { hash: "#files" });
  stored(tab, "save");
  const path = "files/public/applications/page-tests/a%20guide.pdf";
  tab.network.answer(`POST ${ADDRESS}upload/`, { path });
  const control = await tab.field("Upload files");
  Object.defineProperty(control, "files", { value: [new tab.window.File(["x"], "a guide.pdf")] });
  control.dispatchEvent(new tab.window.Event("change", { bubbles: true }));

  await tab.shows("[data-upload] [role=status]", "Uploaded: a guide.pdf.");
  await until(() => sent(tab, "save").length, 1);
  const { contexts, features } = sent(tab, "save")[0].manifest;
  assert.deepEqual([contexts, features.documents], [[{ type: "file", url: path }], { enabled: true }]);
  assert.equal((await tab.field("Search the files")).checked, true);
});

test("a file that is too large is not sent, and the message names both sizes", async (t) => {
  const tab = await openStudio(t, { hash: "#files" });
  const control = await tab.field("Upload files");
  const large = Object.defineProperty(new tab.window.File(["x"], "large.bin"), "size", { value: 60_000_000 });
  Object.defineProperty(control, "files", { value: [large] });
  control.dispatchEvent(new tab.window.Event("change", { bubbles: true }));

  await tab.shows("[data-upload] [role=status]", "large.bin: The file is too large (60 MB). The limit is 10.49 MB.");
  assert.deepEqual(sent(tab, "upload"), []);
});

test("a draft that cannot be saved shows why", async (t) => {
  const tab = await openStudio(t);
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  tab.network.isDown = true;
  tab.press(tab.document.body, "Control+s");
  await until(() => status(tab), "Not saved: this server is unreachable. Retrying…");

  tab.network.isDown = false;
  const findings = [{ path: "orchestrator", severity: "error", message: "is missing" }];
  tab.network.answer(`POST ${ADDRESS}save/`, Response.json({ message: "It is too large.", findings }, { status: 400 }));
  tab.press(tab.document.body, "Control+s");
  await until(() => status(tab), "It is too large.");
  await tab.shows(".studio-checked", "1 error");
});

test("the person resolves each conflict", async (t) => {
  const tab = await openStudio(t);
  const clashes = ["title", "description"].map((path) => ({ path, label: `The ${path}`, mine: `my ${path}`, theirs: `their ${path}` }));
  tab.network.answer(`POST ${ADDRESS}save/`, Response.json({ message: "Others changed the same.", clashes }, { status: 409 }));
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  tab.press(tab.document.body, "Control+s");
  await tab.shows(".studio-clash legend", "The title", "The description");
  assert.equal(tab.focused, tab.all(".studio-clash input")[0]);

  stored(tab, "save");
  tab.all(".studio-clash")[1].querySelector("[value=theirs]").click();
  await tab.click("Save with these choices");

  await until(() => sent(tab, "save").at(-1).choices, { title: "mine", description: "theirs" });
  await until(() => status(tab), "Saved.");
});

test("publishing saves the draft, shows what changes and what the checks found, and asks for a note", async (t) => {
  const tab = await openStudio(t, { findings: [{ path: "orchestrator.deployment", label: "Model", severity: "warning", message: "is slow" }] });
  await tab.shows(".studio-checked", "1 warning");
  stored(tab, "save");
  stored(tab, "publish", { message: "Published as version 2.", state: { ...STATE, name: "live", title: "Live", number: 2 } });
  const difference = { path: "conversation_starters", label: "Starters", kind: "added", before: "", after: "1 starter", lines: [] };
  tab.network.answer(`POST ${ADDRESS}difference/`, { differences: [difference], version: 3 });
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  await tab.click("Publish…");

  await tab.appears(".studio-publishing[open] h2", "Publish version 2");
  await tab.shows(".studio-publishing h3", "1 change", "Checks");
  await tab.shows(".studio-publishing li", "Warning Model is slow");
  await tab.shows(".studio-differences dt, .studio-differences dd", "Starters added", "1 starter");
  const note = await tab.field("Release note");
  assert.equal(tab.focused, note);
  tab.fill(note, "A starter");
  tab.press(note, "Enter");

  await until(() => status(tab), "Published as version 2.");
  assert.deepEqual(sent(tab, "publish"), [{ note: "A starter", only_new: false, is_over: false, version: 3 }]);
  assert.equal(tab.count(".studio-publishing"), 0);
  assert.equal(tab.focused, tab.find(".studio-bar .studio-status"));
});

test("the dialog for publishing marks the changed words of a line", async (t) => {
  const tab = await openStudio(t);
  stored(tab, "save");
  const lines = [["place", "@@"], ["removed", "Name the price.", [[false, "Name the price."]]], ["added", "Name the total price.", [[false, "Name the "], [true, "total "], [false, "price."]]], ["added", "New", []]];
  tab.network.answer(`POST ${ADDRESS}difference/`, { differences: [{ path: "orchestrator.system_prompt.content", label: "", kind: "changed", before: "", after: "", lines }], version: 3 });
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  await tab.click("Publish…");

  await tab.shows(".studio-differences del, .studio-differences ins", "Name the price.", "Name the total price.", "New");
  assert.deepEqual(tab.all(".studio-differences mark").map(textOf), ["total"]);
});

test("the dialog for publishing is left by its button, by Escape, and for the field of an issue", async (t) => {
  const tab = await openStudio(t, { findings: [{ path: "orchestrator.deployment", label: "Model", severity: "warning", message: "is slow" }] });
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}difference/`, { differences: [], version: 3 });
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  const leave = [
    () => tab.click("Cancel"),
    () => tab.find(".studio-publishing").close(), // as Escape does
    () => tab.find(".studio-publishing li a").click(),
  ];

  const focused = [];
  for (const one of leave) {
    await tab.click("Publish…");
    await tab.appears(".studio-publishing[open]");
    await one();
    assert.equal(tab.count(".studio-publishing"), 0);
    focused.push(textOf(tab.focused));
  }

  assert.deepEqual(focused, ["Publish…", "Publish…", "Model"]);
  assert.deepEqual(sent(tab, "publish"), []);
});

test("an issue has the section and the label of the field in the form", async (t) => {
  const { manifest, findings } = JSON.parse(documentOf("mistakes"));
  const tab = await openStudio(t, {
    hash: "",
    findings,
    change: (document) => {
      const data = document.getElementById("studio-data");
      data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), manifest });
    },
  });
  tab.network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [{ name: "Shop" }] });
  await tab.shows(".studio-checked", "9 errors, 1 warning");
  tab.find(".studio-checked").click();
  const field = (path) => tab.all("[data-section] [data-path]").find(({ dataset }) => dataset.path === path);
  const shown = [];
  for (const { path } of findings) {
    tab.all(".studio-details a").find(({ title }) => title === path).click();
    if (path.startsWith("tool_sets")) (await tab.appears(".studio-toolset > details")).open = true;
    await settle();
    const label = field(path) && textOf(tab.find(`label[for="${field(path).id}"]`));
    shown.push([path, textOf(tab.find("#studio-section")), label]);
  }

  assert.deepEqual(
    shown,
    [
      ["orchestrator.deployment.parameters.temperature", "Model", "Temperature"],
      ["orchestrator.system_prompt.content", "Instructions", "Prompt"],
      ["orchestrator.max_iterations", "Limits", "Maximum model calls"],
      ["tool_sets[0].base_url", "Tools", "Service URL"],
      ["tool_sets[0].tools[0].rest_api_method_info.method_url", "Tools", "URL"],
      ["conversation_starters.starters[0].text", "Starters", "Question"],
      ["conversation_starters.starters", "Starters", undefined],
      ["features.memory.prime", "Behavior", "Memories in the prompt"],
      ["orchestrator.deployment.deployment_id", "Model", undefined],
      ["(title)", "Instructions", "Title"],
    ],
  );
  for (const [index, [path, section, label]] of shown.entries()) {
    const steps = findings[index].label.split(" › ");
    assert.deepEqual([path, steps[0], label && steps.at(-1)], [path, section, label]);
  }
});

test("an added or removed item is described by its texts in the dialog for publishing", async (t) => {
  const tab = await openWindow(t);
  const { changedItem } = await tab.scripts.import("/static/console/studio/publish-dialog.js");
  const tool = { open_ai_tool: { function: { name: "current" } } };
  const store = { data: { kinds: { "rest-api": { title: "REST service" } } } };
  const parcels = JSON.stringify({ name: "Parcels", type: "rest-api", tools: [tool] });
  const item = (path, kind, before, after = "nothing") => changedItem({ path, kind, before, after }, store);
  assert.deepEqual(
    [
      item("tool_sets[3]", "removed", parcels),
      item("conversation_starters.starters[1]", "added", "nothing", JSON.stringify({ title: "Oslo", text: "Is it cold?" })),
      item("tool_sets[0].tools[4]", "removed", JSON.stringify(tool)),
      item("tool_sets[0]", "changed", parcels, parcels),
      item("tool_sets[3]", "removed", "{ cut"),
      item("features.todo", "added", "nothing", "{}"),
    ],
    ["REST service · 1 tool", "Oslo · Is it cold?", "current", "", "", ""],
  );
});

test("a newer version is replaced only after a confirmation", async (t) => {
  const tab = await openStudio(t);
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}difference/`, { differences: [], version: 3 });
  tab.network.answer(`POST ${ADDRESS}publish/`, Response.json({ message: "Version 2 is newer.", is_outdated: true }, { status: 409 }));
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  await tab.click("Publish…");
  tab.fill(await tab.field("Release note"), "Mine");
  await tab.click("Publish");
  await tab.shows(".studio-publishing [role=alert]", "Version 2 is newer.");

  stored(tab, "publish", { message: "Published as version 3." });
  await tab.click("Publish the draft anyway");

  await until(() => status(tab), "Published as version 3.");
  assert.deepEqual(sent(tab, "publish").map(({ is_over }) => is_over), [false, true]);
});

test("an archived application offers to unarchive it, in place of publishing and the chat", async (t) => {
  const change = (document) => {
    const data = document.getElementById("studio-data");
    data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), state: { ...STATE, name: "archived", title: "Archived" } });
  };
  const tab = await openStudio(t, { change });
  const actions = () => tab.all(".studio-bar .console-button").filter((one) => !one.closest("[hidden]")).map(textOf);
  assert.equal(textOf(tab.find(".studio-archived p")), "This application is archived. Nobody can use it.");
  assert.deepEqual(actions(), ["Try it", "Save draft", "⋯", "Unarchive"]);

  stored(tab, "unarchive", { message: "Desk is no longer archived.", manifest: {}, title: "Desk", description: "", icon: "", skills: {} });
  await tab.click("Unarchive");

  await until(() => status(tab), "Desk is no longer archived.");
  assert.deepEqual(actions(), ["Try it", "Save draft", "Discard", "Open in chat", "⋯", "Publish…"]);
  assert.deepEqual(sent(tab, "unarchive"), [{}]);
});

test("a draft is discarded after a confirmation", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}discard/`, () => ({ manifest: {}, title: "Page tests", description: "", icon: "", skills: {}, version: 0, state: { ...STATE, name: "live", title: "Live" }, message: "Discarded." }));
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  const choose = (name) => tab.all(".studio-confirmation button").find((one) => textOf(one) === name).click();
  await tab.click("Discard");
  await tab.shows(".studio-confirmation h2", "Discard your changes since it was saved?");
  choose("Cancel");
  await until(() => tab.all(".studio-confirmation"), []);
  assert.deepEqual(sent(tab, "discard"), []);

  await tab.click("Discard");
  choose("Discard");

  await until(() => status(tab), "Discarded.");
  assert.equal(sent(tab, "discard").length, 1);
  assert.equal((await tab.field(QUESTION)).value, "");
});

/** A stream of server-sent events that arrives in pieces. */
function stream(...events) {
  const text = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  const pieces = text.match(/[\s\S]{1,7}/g).map((piece) => new TextEncoder().encode(piece));
  return new Response(ReadableStream.from(pieces), { headers: { "Content-Type": "text/event-stream" } });
}

const END = { input: 1200, output: 3, seconds: 1.5, calls: 1, tool_calls: 2, state: null };

test("the draft answers with its steps before anything is saved", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}answer/`, () =>
    stream(
      ["stage", { id: 1, title: "Look" }],
      ["stage_text", { id: 1, text: "Größe" }],
      ["stage_end", { id: 1, seconds: 0.25, failed: true }],
      ["text", { text: "It is " }],
      ["text", { text: "**so**." }],
      ["end", END],
    ),
  );
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  await tab.click("Find parcel 7", tab.find("[data-chat]"));

  await tab.shows(".studio-answer markdown-text strong", "so");
  await tab.shows(".studio-answer summary", "Look failed 0.25 s");
  await tab.shows(".studio-answer pre", "Größe");
  await tab.shows(".studio-answer > .studio-quiet", "1.5 s · 1,200 + 3 tokens · 1 model call · 2 tool calls");
  const [{ which, messages, manifest }] = sent(tab, "answer");
  assert.deepEqual([which, messages], ["draft", [{ role: "user", content: "Find parcel 7" }]]);
  assert.equal(manifest.conversation_starters.starters[0].text, "Find parcel 7");

  tab.fill(await tab.field(QUESTION), "Find parcel 8");
  await tab.shows("[data-chat] [role=status]", "The draft has changed since this answer.");
  await tab.click("Ask again");
  await until(() => sent(tab, "answer").length, 2);
  assert.deepEqual(sent(tab, "answer")[1].messages, messages);
});

test("the live version answers next to the draft, and an answer that fails shows why", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}answer/`, ({ body: { which } }) =>
    which === "live" ? stream(["text", { text: "Old." }], ["end", END]) : Response.json({ message: "The draft is broken." }, { status: 400 }),
  );
  tab.find("[data-beside]").checked = true;
  tab.fill(tab.find("#studio-question"), "Hello");
  tab.press(tab.find("#studio-question"), "Enter");

  await tab.shows(".studio-answer h3", "Draft", "Live version 1");
  await tab.shows(".studio-answer[data-which=draft] [role=alert]", "The draft is broken.");
  await tab.shows(".studio-answer[data-which=live] markdown-text", "Old.");
  await tab.shows("[data-chat] [role=status]", "The draft did not answer.");
});

test("the draft and the live version continue their own conversations, whose answers are side by side", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}answer/`, ({ body: { which, messages } }) => stream(["text", { text: `${which} ${messages.length}` }], ["end", END]));
  tab.find("[data-beside]").checked = true;
  const question = tab.find("#studio-question");
  for (const text of ["Hello", "Again"]) {
    tab.fill(question, text);
    tab.press(question, "Enter");
    await until(() => tab.count(`.studio-answer[data-which=live] markdown-text`) === (text === "Hello" ? 1 : 2) && tab.find("[data-send]").hidden, false);
  }

  const said = sent(tab, "answer").map(({ which, messages }) => [which, messages.map(({ content }) => content)]);
  assert.deepEqual(said, [
    ["draft", ["Hello"]],
    ["live", ["Hello"]],
    ["draft", ["Hello", "draft 1", "Again"]],
    ["live", ["Hello", "live 1", "Again"]],
  ]);
  await tab.click("Ask again");
  await until(() => sent(tab, "answer").length, 6);
  assert.deepEqual(sent(tab, "answer").at(-1).messages.map(({ content }) => content), ["Hello", "live 1", "Again"]);
});

test("a model that fails several times takes one line, and a notice is not repeated", async (t) => {
  const tab = await openStudio(t);
  const sentTo = { model: "gpt", prompt: [], messages: [], tools: [], parameters: "{}", tokens: 9 };
  const attempt = [
    ["notice", { id: "budget-1", text: "80% of your budget has been used." }],
    ["sent", sentTo],
    ["failed", { model: "gpt", error: "connection", said: "" }],
  ];
  tab.network.answer(`POST ${ADDRESS}answer/`, () =>
    stream(...attempt, ...attempt, ...attempt, ["sent", sentTo], ["failed", { model: "gpt", error: "status 500", said: "" }], ["problem", { text: "It failed." }]),
  );
  tab.fill(tab.find("#studio-question"), "Hello");
  tab.press(tab.find("#studio-question"), "Enter");

  await tab.shows(".studio-answer [role=alert]", "It failed.");
  assert.deepEqual(tab.texts(".studio-steps > p"), ["80% of your budget has been used.", "gpt: 3 attempts failed (connection)", "gpt failed (status 500)"]);
  assert.equal(tab.count(".studio-steps > details"), 2);
});

test("a tool call has one line: its stage, or else its title", async (t) => {
  const tab = await openStudio(t);
  const report = (tool, title) => ["tool", { tool, title, seconds: 0.01, failed: true }];
  tab.network.answer(`POST ${ADDRESS}answer/`, () =>
    stream(
      ["stage", { id: 1, title: "Parcels · look up", tool: "Parcels_look_up" }],
      ["stage_end", { id: 1, seconds: 0.02, failed: true }],
      report("Parcels_look_up", "Parcels look up"),
      report("Parcels_look_up", "Parcels look up"),
      ["end", END],
    ),
  );
  tab.fill(tab.find("#studio-question"), "Hello");
  tab.press(tab.find("#studio-question"), "Enter");

  await tab.shows(".studio-steps summary", "Parcels · look up failed 0.02 s");
  await tab.shows(".studio-steps > p", "Parcels look up failed, 0.01 s");
});

test("a variable in the prompt gets a row while the user types", async (t) => {
  const tab = await openStudio(t, { hash: "#instructions" });
  const prompt = await tab.field("Prompt");
  tab.fill(prompt, "You work for {company}");
  await tab.shows(".studio-pair label", "{company}");
  tab.fill(await tab.field("{company}"), "Northwind");
  tab.fill(prompt, "You work for {company} in {city}.");
  await tab.shows(".studio-pair label", "{company}", "{city}");
  assert.equal((await tab.field("{company}")).value, "Northwind");
});

test("a new skill has no error before the user has been in its description, and the error names the field", async (t) => {
  const tab = await openStudio(t, { hash: "#skills" });
  const path = "skills/new-skill/SKILL.md";
  const findings = [
    { path, severity: "error", message: "description: is missing; write 'description: …' in the front matter" },
    { path, severity: "warning", message: "is short" },
  ];
  tab.network.answer(`POST ${ADDRESS}check/`, { findings });
  await tab.click("Write a skill");
  await tab.shows(".studio-card .studio-finding", "Warning: is short");
  const description = await tab.field("Description, and when to read it");
  description.dispatchEvent(new tab.window.Event("blur"));
  await tab.shows(".studio-card .studio-finding", "Error: The description is missing.", "Warning: is short");
});

test("an error about the name of a skill is a sentence at its field and in the list of issues", async (t) => {
  const tab = await openStudio(t, { hash: "#skills" });
  const message = "name: cannot be 'Tone'; use lowercase letters a-z, digits and single hyphens between them";
  tab.network.answer(`POST ${ADDRESS}check/`, { findings: [{ path: "skills/new-skill/SKILL.md", label: "Skills › new-skill › SKILL.md", severity: "error", message }] });
  await tab.click("Write a skill");

  const sentence = "The name cannot be 'Tone'; use lowercase letters a-z, digits and single hyphens between them.";
  await tab.shows(".studio-card .studio-finding", `Error: ${sentence}`);
  const box = (await tab.field("Name")).closest(".studio-field");
  assert.equal(box.querySelectorAll(".studio-finding").length, 1);
  await tab.click("1 error");
  await tab.shows(".studio-issues li", `Error Skills › new-skill › SKILL.md ${sentence}`);
});

test("publishing without a release note asks for it at its field", async (t) => {
  const tab = await openStudio(t);
  stored(tab, "save");
  tab.network.answer(`POST ${ADDRESS}difference/`, { differences: [], version: 3 });
  tab.fill(await tab.field(QUESTION), "Find parcel 7");
  await tab.click("Publish…");
  const note = await tab.field("Release note");
  tab.press(note, "Enter");
  await tab.shows(".studio-publishing .studio-finding", "Enter a note that describes the changes.");
  assert.deepEqual([tab.focused, note.getAttribute("aria-invalid"), sent(tab, "publish").length], [note, "true", 0]);
  tab.fill(note, "New");
  assert.equal(note.getAttribute("aria-invalid"), null);
});

test("a search in the files marks the passages that the draft would answer from", async (t) => {
  const documents = { enabled: true, results: 1 };
  const tab = await openStudio(t, {
    hash: "#files",
    change: (document) => {
      const data = document.querySelector("#studio-data");
      const page = JSON.parse(data.textContent);
      page.manifest.features = { documents };
      data.textContent = JSON.stringify(page);
    },
  });
  const passages = ["Late check-out", "Breakfast"].map((text) => ({ place: "a.txt", address: "files/a.txt", score: 0.5, text }));
  tab.network.answer(`POST ${ADDRESS}files/search/`, { passages, notice: "", indexed: 1, files: 2 });
  const field = await tab.field("Try a search");
  tab.fill(field, "late");
  tab.press(field, "Enter");

  await tab.shows(".studio-passages ol:not(.studio-left-out) blockquote", "Late check-out");
  assert.deepEqual(tab.texts(".studio-left-out blockquote"), ["Breakfast"]);
  assert.ok(tab.texts(".studio-passages > p").includes("1 of 2 files are indexed."));
  tab.fill(await tab.field("Passages per answer"), "2");

  await tab.shows(".studio-passages ol:not(.studio-left-out) blockquote", "Late check-out", "Breakfast");
  assert.equal(tab.count(".studio-left-out"), 0);
  assert.equal(sent(tab, "files/search")[0].q, "late");
});

test("the error of an answer is shown once, next to the words of the model’s service", async (t) => {
  const tab = await openStudio(t);
  const text = "The model’s service did not answer. (error reference: 1a2b)";
  tab.network.answer(`POST ${ADDRESS}answer/`, () =>
    stream(["failed", { model: "gpt", error: "status 401", said: "Incorrect API key" }], ["problem", { text }]),
  );
  tab.fill(tab.find("#studio-question"), "Hello");
  tab.press(tab.find("#studio-question"), "Enter");

  await tab.shows("[data-chat] [role=status]", "The draft did not answer.");
  await tab.shows("[data-chat] .studio-error", "gpt failed (status 401): Incorrect API key", text);
  assert.equal(textOf(tab.find("[data-chat]")).split(text).length, 2);
});

test("an answer that is stopped says so once", async (t) => {
  const tab = await openStudio(t);
  tab.network.answer(`POST ${ADDRESS}answer/`, ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))));
  tab.fill(tab.find("#studio-question"), "Hello");
  tab.press(tab.find("#studio-question"), "Enter");
  await tab.shows("[data-chat] [role=status]", "Answering…");

  tab.find("[data-stop]").click();

  await tab.shows("[data-chat] [role=status]", "Stopped.");
  assert.equal(tab.count("[data-chat] [role=alert]"), 0);
});

const HOLDER = { kind: "user", what: "User", name: "anna", title: "Anna Smith" };

/** The panel of access, whose changes are answered as a server stores them. */
async function openAccess(t, changes = {}) {
  const tab = await openStudio(t, {
    hash: "#access",
    change: (document) => {
      const data = document.querySelector("#studio-data");
      const page = JSON.parse(data.textContent);
      page.access = { ...page.access, ...changes };
      data.textContent = JSON.stringify(page);
    },
  });
  const { access } = JSON.parse(tab.find("#studio-data").textContent);
  const stored = { ...access };
  const keep = (more) => ({ access: Object.assign(stored, more), state: STATE });
  tab.network.answer(`POST ${ADDRESS}access/`, ({ body }) => keep(body));
  tab.network.answer(`POST ${ADDRESS}grant/`, ({ body: { kind, name, role } }) =>
    keep({ grants: role ? [{ ...HOLDER, kind, name, role }] : [] }),
  );
  tab.network.answer(`POST ${ADDRESS}people/`, { found: [HOLDER] });
  return tab;
}

const typeIn = (tab, field, text) => {
  field.value = text;
  field.dispatchEvent(new tab.window.Event("input", { bubbles: true }));
};

test("access is saved at once, and the draft stays unsaved", async (t) => {
  const tab = await openAccess(t);
  tab.find("[data-key=audience-shared]").click();
  await until(() => status(tab), "Saved.");
  tab.find("[data-key=enabled]").click();
  await until(() => sent(tab, "access").length, 2);

  assert.deepEqual(plain(sent(tab, "access")), [{ audience: "shared" }, { is_enabled: false }]);
  assert.equal(sent(tab, "save").length, 0);
  assert.ok(tab.find("[data-key=audience-shared]").checked);
});

test("a person is found by a part of the name, gets a role, and loses it", async (t) => {
  const tab = await openAccess(t);
  typeIn(tab, tab.find("[data-key=add]"), "smith");
  await until(() => tab.hasButton("Add: Anna Smith"), true);
  await tab.click("Add: Anna Smith");
  await tab.shows("[aria-label=Roles] .studio-holder", "Anna Smith User, anna");
  await tab.click("Remove Anna Smith");
  await until(() => sent(tab, "grant").length, 2);

  assert.deepEqual(plain(sent(tab, "people")), [{ text: "smith" }]);
  assert.deepEqual(plain(sent(tab, "grant")), [
    { kind: "user", name: "anna", role: "user" },
    { kind: "user", name: "anna", role: "" },
  ]);
});

test("a refusal is shown, and the panel shows what is stored", async (t) => {
  const tab = await openAccess(t);
  tab.network.answer(`POST ${ADDRESS}access/`, () => Response.json({ message: "Not yours." }, { status: 403 }));
  tab.find("[data-key=audience-shared]").click();
  await until(() => status(tab), "Not yours.");
  assert.ok(!tab.find("[data-key=audience-shared]").checked);
});

test("a change that takes the user's own role away leads to the page of the answer", async (t) => {
  const tab = await openAccess(t);
  tab.network.answer(`POST ${ADDRESS}access/`, { left: "#list" });
  tab.find("[data-key=audience-shared]").click();
  await until(() => tab.window.location.hash, "#list");
});

test("editors read who has a role, and change nothing", async (t) => {
  const tab = await openAccess(t, { may_grant: false, may_rule: false, grants: [{ ...HOLDER, role: "editor" }] });
  const disabled = tab.all(".studio-body :is(input, select)").filter((field) => field.disabled);
  assert.equal(disabled.length, tab.all(".studio-body :is(input, select)").length - 1); // but Enabled
  assert.ok(!tab.hasButton("Remove Anna Smith"));
});

test("choices that could not be fetched are fetched again, and then kept", async (t) => {
  const tab = await openWindow(t);
  const network = new Network();
  tab.window.fetch = network.fetchOf(tab.window);
  const { Store } = await tab.scripts.import("/static/console/studio/store.js");
  const store = new Store({ manifest: {}, title: "", description: "", icon: "", skills: {}, version: 1, state: STATE, urls: { choices: "/choices/" } });
  network.answer("GET /choices/", new Response("<h1>Sign in</h1>", { status: 503 }));
  await assert.rejects(store.choices(), /503/);
  network.answer("GET /choices/", { deployments: [] });

  assert.deepEqual(plain(await store.choices()), { deployments: [] });
  assert.equal(store.choices(), store.choices());
  assert.equal(network.sent("/choices/").length, 2);
});

test("a replayed conversation shows who said what, and its question keeps its name", async (t) => {
  const { tab, store } = await newStore(t, {
    replay: [
      { role: "user", content: "Where to?", name: "Ada" },
      { role: "assistant", content: "To Oslo." },
      { role: "user", content: "And then?", name: "Grace" },
    ],
  });
  const { DraftChat } = await tab.scripts.import("/static/console/studio/draft-chat.js");
  const root = tab.document.createElement("section");
  root.innerHTML = `<div data-log></div><p role="status"></p><form><textarea></textarea><button data-send></button><button data-stop></button></form>
    <button data-again></button><button data-restart></button><input type="checkbox" data-beside>`;
  tab.document.body.append(root);
  const sent = [];
  store.send = async (_name, body) => {
    sent.push(body.messages);
    return { ok: false, json: async () => ({ message: "No." }) };
  };

  const chat = new DraftChat(root, store);
  const shown = [...root.querySelectorAll("[data-role]")].map((one) => [one.dataset.role, ...[...one.children].map((line) => line.textContent)]);
  assert.deepEqual(shown, [
    ["user", "", "Ada", "Where to?"].filter(Boolean),
    ["assistant", "To Oslo."],
  ]);

  await chat.ask("And then?");
  assert.deepEqual(plain(sent[0].at(-1)), { role: "user", content: "And then?", name: "Grace" });
  await chat.ask("And now?");
  assert.deepEqual(plain(sent[1].at(-1)), { role: "user", content: "And now?" });
});

test("a key is created where clients are connected, and sends a first message through a door", async (t) => {
  const tab = await openStudio(t, { hash: "#connect" });
  tab.network.answer("POST /api/keys/", Response.json({ key: "qa-1" }, { status: 201 }));
  const [door] = JSON.parse(tab.find("#studio-data").textContent).connect.doors;
  tab.network.answer(`POST ${new URL(door.trial.address).pathname}`, { text: "Hi." });
  await tab.appears("details strong", door.title);

  tab.all("button").find((one) => one.getAttribute("aria-label") === `Try it: ${door.title}`).click();
  await tab.appears("details .studio-error", "Enter or create a key first.");
  await tab.click("Create a key");
  await tab.appears("pre", "export QUICKAPPS_KEY=qa-1");
  tab.all("button").find((one) => one.getAttribute("aria-label") === `Try it: ${door.title}`).click();

  await tab.appears("details pre", '"text": "Hi."');
  assert.deepEqual(tab.network.sent("/api/keys/").map(({ body }) => body), [
    { name: "page-tests (studio)", user: "operator", applications: ["page-tests"] },
  ]);
});
