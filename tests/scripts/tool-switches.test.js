/** Toolsets of an app that users can turn on and off in the message box. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { Network } from "./support/network.js";
import { until } from "./support/until.js";

const OFFERED = { prompts: [], skills: [], applications: [], files: [], efforts: [], effort: "", models: [], model: "" };
const TOOLS = [
  { name: "web", title: "Web search", detail: "Searches the web.", on: false },
  { name: "shop", title: "Shop", detail: "", on: true },
];

/** The chat page of an app with two switches. */
async function openSwitches(t, tools = TOOLS) {
  const network = new Network();
  network.answer("GET /chat/page-tests/composer/*", { ...OFFERED, tools });
  return openChat(t, { network });
}

/** The switches, with their states. */
function states(tab) {
  return tab.all("add-menu [role=menuitemcheckbox]").map((one) => [one.dataset.tool, one.ariaChecked ?? one.getAttribute("aria-checked")]);
}

test("switches of a new conversation are sent with its first question", async (t) => {
  const tab = await openSwitches(t);
  (await tab.button("Add")).click();
  await until(() => states(tab), [["web", "false"], ["shop", "true"]]);

  tab.find("[data-tool=web]").click();
  await until(() => states(tab), [["web", "true"], ["shop", "true"]]);
  await ask(tab, "Hello");

  assert.deepEqual(tab.socket.frames("ask").map(({ tools }) => tools), [{ web: true, shop: true }]);
});

test("models are described in their menu", async (t) => {
  const network = new Network();
  const models = [{ id: "quick", title: "Quick", detail: "Fast." }, { id: "careful", title: "Careful", detail: "For hard questions." }, { id: "large", title: "Large", detail: "" }];
  network.answer("GET /chat/page-tests/composer/*", { ...OFFERED, models, tools: [] });
  const tab = await openChat(t, { network });

  await tab.shows("choice-list .choice-option", "QuickDefault · Fast.", "CarefulFor hard questions.", "Large");
});

test("an app without switches sends none, and its button attaches files", async (t) => {
  const tab = await openSwitches(t, []);
  await ask(tab, "Hello");

  assert.ok(tab.hasButton("Attach files"));
  assert.deepEqual(tab.socket.frames("ask").map((frame) => "tools" in frame), [false]);
});

test("a switch of a conversation is stored, and a failure is shown", async (t) => {
  const tab = await openSwitches(t);
  await ask(tab, "Hello");
  tab.socket.write("Hi.");
  const stored = [];
  tab.network.answer("POST /chat/page-tests/*/tools/", ({ body }) => {
    stored.push([body.tool, body.on]);
    return new Response("", { status: stored.length > 1 ? 500 : 200 });
  });
  (await tab.button("Add")).click();
  await until(() => states(tab).length, 2);

  tab.find("[data-tool=shop]").click();
  await until(() => states(tab), [["web", "false"], ["shop", "false"]]);
  tab.find("[data-tool=web]").click();

  await until(() => stored, [["shop", "false"], ["web", "true"]]);
  assert.deepEqual(states(tab), [["web", "false"], ["shop", "false"]]);
});
