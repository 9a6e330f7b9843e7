/** Tools of the draft and of the live version, tried in a dialog of the studio. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Network } from "./support/network.js";
import { documentOf, openTab, textOf } from "./support/tab.js";
import { plain, until } from "./support/until.js";

const ADDRESS = "/admin/catalog/application/1/studio/";
const TRIAL = `${ADDRESS}tools/trial/`;

/** The section of tools of a draft with one toolset. `answers` are parts by what is asked: tools, form, report. */
async function openTools(t, answers = {}, { number = 0 } = {}) {
  const network = new Network();
  const parts = { tools: "trial-tools", form: "trial-form", report: "trial-report", ...answers };
  const choices = { deployments: [], applications: [], prompts: [], skills: [], files: [], secrets: [], servers: [], registered: [], add: {} };
  network.answer(`GET ${ADDRESS}choices/`, choices);
  network.answer(`POST ${ADDRESS}check/`, { findings: [] });
  network.answer(`POST ${ADDRESS}tools/cards/`, { cards: [] });
  network.answer(`POST ${TRIAL}`, ({ body }) => {
    const part = parts[body.arguments ? "report" : body.name ? "form" : "tools"];
    return typeof part === "string" ? new Response(documentOf(part)) : part(body);
  });
  const change = (document) => {
    const data = document.querySelector("#studio-data");
    const page = JSON.parse(data.textContent);
    page.manifest.tool_sets = [{ type: "rest-api", name: "shop", tools: [] }];
    page.state.number = number;
    data.textContent = JSON.stringify(page);
  };
  return openTab(t, "studio", { path: `${ADDRESS}#tools`, network, change });
}

const asked = (tab) => tab.network.sent(TRIAL).map(({ body: { place, which, name, arguments: typed } }) => plain({ place, which, name, typed }));
const listed = (tab) => tab.all(".studio-dialog [data-tool]").filter((row) => !row.closest("[hidden]"));

async function openForm(tab) {
  await tab.click("Try shop");
  await tab.click("Try shop_find_7", await tab.appears(".studio-dialog"));
  return tab.appears(".studio-dialog form[data-try]");
}

test("a toolset is opened, and a tool is chosen, called and left again with the keyboard's place kept", async (t) => {
  const tab = await openTools(t);

  const form = await openForm(tab);
  const query = await tab.field("query", form);
  await until(() => tab.focused === query, true);
  tab.fill(query, "tea");
  await tab.click("Call", form);
  await tab.appears(".studio-dialog [data-result]", "Failed");
  await until(() => tab.focused === tab.find(".studio-dialog [data-result]"), true);
  await tab.click("Back to the tools");

  await until(() => tab.focused?.dataset.name, "shop_find_7");
  assert.deepEqual(asked(tab), [
    { place: 0, which: "draft" },
    { place: 0, which: "draft", name: "shop_find_7" },
    { place: 0, which: "draft", name: "shop_find_7", typed: { mode: "form", "argument-query": "tea", "argument-limit": "10", "argument-tags": form.querySelector("[name=argument-tags]").value, json: form.querySelector("[name=json]").value } },
    { place: 0, which: "draft" },
  ]);
});

test("all toolsets are opened together", async (t) => {
  const tab = await openTools(t);

  await tab.click("Try all tools");

  await tab.appears(".studio-dialog [data-tool]");
  assert.deepEqual(asked(tab), [{ place: "all", which: "draft" }]);
  assert.ok(tab.find(".studio-dialog").getAttribute("aria-labelledby"));
});

test("the live version is tried in place of the draft", async (t) => {
  const tab = await openTools(t, {}, { number: 3 });
  await tab.click("Try shop");
  const version = await tab.field("Version");
  await tab.appears(".studio-dialog [data-tool]");
  assert.deepEqual([...version.options].map(textOf), ["The draft", "Live version 3"]);

  version.focus();
  tab.choose(version, "live");
  await until(() => asked(tab).length, 2);
  await tab.appears(".studio-dialog [data-tool]");
  assert.ok(tab.focused === version);
  await tab.click("Try shop_find_7", tab.find(".studio-dialog"));

  await tab.appears(".studio-dialog form[data-try]");
  assert.deepEqual(asked(tab).slice(1), [
    { place: 0, which: "live" },
    { place: 0, which: "live", name: "shop_find_7" },
  ]);
});

test("without a live version there is no choice of a version", async (t) => {
  const tab = await openTools(t);
  await tab.click("Try shop");
  await tab.appears(".studio-dialog [data-tool]");
  assert.equal(tab.count(".studio-dialog select"), 0);
});

test("many tools are filtered by words of their names and descriptions", async (t) => {
  const tab = await openTools(t);
  await tab.click("Try shop");
  const filter = await tab.field("Find a tool");
  assert.equal(listed(tab).length, 11);

  tab.fill(filter, "Is OF  7");
  assert.deepEqual(listed(tab).map((row) => textOf(row.querySelector("h4"))), ["shop_find_7"]);
  await tab.shows(".studio-dialog [data-found]", "1 found");
  assert.deepEqual(tab.all(".studio-dialog [data-group]").map((group) => group.hidden), [false, true]);

  tab.fill(filter, "");
  assert.equal(listed(tab).length, 11);
  await tab.shows(".studio-dialog [data-found]", "");
});

test("a field that cannot be read is named, corrected and taken over as JSON", async (t) => {
  const parts = ["trial-mistakes", "trial-report"];
  const tab = await openTools(t, { report: () => new Response(documentOf(parts.shift())) });
  const form = await openForm(tab);
  const tags = await tab.field("tags", form);
  tab.fill(await tab.field("query", form), "two\nlines");
  tab.fill(tags, "[1,");
  await tab.click("Call", form);

  await until(() => tags.getAttribute("aria-invalid"), "true");
  const described = tags.getAttribute("aria-describedby").split(" ").map((id) => textOf(tab.document.getElementById(id)));
  assert.deepEqual(described, ["Marks.", "This is not JSON: Expecting value, line 1, column 4."]);

  tab.fill(tags, '["<b>x</b>"]');
  (await tab.field("Raw JSON", form)).click();
  assert.deepEqual(JSON.parse(form.querySelector("[name=json]").value), { query: "two\nlines", limit: 10, tags: ["<b>x</b>"] });

  await tab.click("Call", form);
  await tab.appears(".studio-dialog [data-result]", "Failed");
  assert.equal(tags.getAttribute("aria-invalid"), null);
});

test("a slow call is stopped, and one that was left is cancelled", async (t) => {
  const never = () => new Promise(() => {});
  const tab = await openTools(t, { report: never });
  const form = await openForm(tab);
  await tab.click("Call", form);
  await until(() => asked(tab).length, 3);
  await tab.click("Stop", form);
  await tab.shows(".studio-dialog [data-status]", "Stopped. Any effects that the tool has already had are not undone.");

  const call = await tab.button("Call", form);
  call.click();
  await until(() => asked(tab).length, 4);
  assert.ok(call.disabled);
  await tab.click("Close", tab.find(".studio-dialog"));

  await until(() => call.disabled, false);
  assert.equal(tab.count(".studio-dialog"), 0);
});

test("what is wrong with the draft is shown in place of its tools", async (t) => {
  const tab = await openTools(t, { tools: () => Response.json({ message: "The application is not published yet." }, { status: 400 }) });
  await tab.click("Try shop");
  await tab.shows(".studio-dialog [role=alert]", "The application is not published yet.");
  await tab.click("Close", tab.find(".studio-dialog"));

  tab.network.isDown = true;
  await tab.click("Try shop");
  await tab.shows(".studio-dialog [role=alert]", "This server is unreachable, or you are signed out. Reload the page.");
});
