/** The page carries out calls of tools. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, box, openChat } from "./support/chat.js";
import { settle, until } from "./support/until.js";

const RESULT = "/api/ai/tool-result";

/** A page that the server grants its calls. */
async function openPage(t, how) {
  const tab = await openChat(t, how);
  tab.network.answer("POST /api/ai/tool-claim", { state: "granted" });
  tab.network.answer(`POST ${RESULT}`, { state: "taken" });
  return tab;
}

/** Let the answer call a tool of the page. */
function call(tab, name, given = {}, key = "t:1:0:c") {
  const asked = { name, title: name, arguments: given };
  tab.socket.say("interaction.requested", { key, kind: "client_tool", asked, due: null });
  tab.socket.say("run.status", { status: "waiting" });
}

/** What the page returned to the server, by call. */
function results(tab) {
  return tab.network.sent(RESULT).map(({ body: { run: _, key: __, ...result } }) => result);
}

test("the model fills in a field, which the person undoes", async (t) => {
  const tab = await openPage(t);
  await ask(tab, "Fill it in");
  call(tab, "_platform.set_field", { field: "question", value: "And in Riga?" });

  await until(() => results(tab), [{ result: { field: "question", value: "And in Riga?" } }]);
  assert.equal(box(tab).value, "And in Riga?");
  await tab.shows("#set-notice:not([hidden]) span", "The answer filled in “Your question”.");
  await tab.click("Undo");

  await until(() => box(tab).value, "");
  assert.equal(tab.focused, box(tab));
  assert.ok(tab.find("#set-notice").hidden);
});

// @proves("T-37")
test("the model reads what the page shows, without its secrets", async (t) => {
  const tab = await openPage(t);
  await ask(tab, "Look");
  tab.document.body.insertAdjacentHTML(
    "beforeend",
    `<label>Amount <input data-tool-field="amount" value="7"></label>
     <label>Word <input type="password" data-tool-field="word" value="hush"></label>
     <label>Note <input value="hush"></label>`,
  );
  call(tab, "_platform.inspect_page");

  await until(() => results(tab).length, 1);
  const [{ result }] = results(tab);
  assert.deepEqual(result, {
    application: "Page tests",
    address: `/chat/page-tests/${tab.socket.conversation}/`,
    conversation: { id: tab.socket.conversation, title: "A conversation" },
    fields: [
      { name: "question", label: "Your question", value: "", can_be_changed: true },
      { name: "amount", label: "Amount", value: "7", can_be_changed: true },
    ],
    selection: "",
    actions: ["_platform.inspect_page", "_platform.set_field"],
  });
});

test("a field that is missing or read-only returns an error", async (t) => {
  const tab = await openPage(t);
  tab.document.body.insertAdjacentHTML("beforeend", '<label>Day <input data-tool-field="day" readonly></label>');
  await ask(tab, "Fill it in");
  call(tab, "_platform.set_field", { field: "colour", value: "red" }, "t:1:0:c");
  await until(() => results(tab).length, 1);
  call(tab, "_platform.set_field", { field: "day", value: "Monday" }, "t:1:1:c");

  await until(() => results(tab), [
    { error: "There is no field colour. There are: question, day" },
    { error: "The field day cannot be changed now." },
  ]);
});

test("a tool that fails, or that the page does not have, returns an error at once", async (t) => {
  const tab = await openPage(t);
  const run = () => {
    throw new tab.window.Error("The shop is closed.");
  };
  tab.window.quickapps.tools.register({ name: "shop.count", run });
  await ask(tab, "Count");
  call(tab, "shop.count", {}, "t:1:0:c");
  await until(() => results(tab).length, 1);
  call(tab, "shop.nobody", {}, "t:1:1:c");

  await until(() => results(tab), [{ error: "The shop is closed." }, { error: "This page has no tool named shop.nobody." }]);
});

test("scripts of the site cannot take names of others", async (t) => {
  const tab = await openPage(t);
  const refused = ["shop.a", "shop.a", "_platform.b", "_platform.set_field", "x y", ""].map((name) => {
    try {
      tab.window.quickapps.tools.register({ name, run: () => 1 });
      return "";
    } catch (error) {
      return error.message;
    }
  });

  assert.deepEqual(refused, [
    "",
    "There is a tool named shop.a already.",
    "_platform. begins names of the page's own tools.",
    "_platform. begins names of the page's own tools.",
    "“x y” is no name of a tool; write one like shop.fill_order.",
    "“” is no name of a tool; write one like shop.fill_order.",
  ]);
});

test("a call that the server does not grant is not carried out", async (t) => {
  const tab = await openPage(t);
  const made = [];
  tab.network.answer("POST /api/ai/tool-claim", { state: "taken" });
  tab.window.quickapps.tools.register({ name: "shop.count", run: ({ n }) => made.push(n) });
  await ask(tab, "Count");
  call(tab, "shop.count", { n: 1 });

  await tab.appears(".decision", "Running on the page where you sent the message");
  await until(() => tab.network.sent("/api/ai/tool-claim").length, 1);
  await settle();
  assert.deepEqual([made, results(tab)], [[], []]);
});

test("a page that was reloaded during a call reports it as lost", async (t) => {
  const first = await openPage(t);
  first.window.quickapps.tools.register({ name: "shop.count", run: () => new Promise(() => {}) });
  await ask(first, "Count");
  call(first, "shop.count");
  await first.appears(".decision", "Running on this page");
  const [{ body: before }] = first.network.sent("/api/ai/tool-claim");
  const { socket, network, stored } = first;
  await first.close();

  network.answer("POST /api/ai/tool-claim", { state: "lost" });
  const path = `/chat/page-tests/${socket.conversation}/`;
  const tab = await openChat(t, { path, socket, network, stored });

  await until(() => results(tab), [
    { error: "The page was reloaded during the call, so the tool may already have run. Check whether it did before you call it again." },
  ]);
  assert.equal(tab.network.sent("/api/ai/tool-claim").at(-1).body.former, before.page);
});

test("a call that does not end is abandoned when the answer is stopped", async (t) => {
  const tab = await openPage(t);
  tab.window.quickapps.tools.register({ name: "shop.count", run: () => new Promise(() => {}) });
  await ask(tab, "Count");
  call(tab, "shop.count");
  await tab.appears(".decision", "Running on this page");
  await tab.click("Stop");
  await tab.shows("chat-answer .notice", "Stopped. No answer was written.");

  await ask(tab, "Fill it in");
  call(tab, "_platform.set_field", { field: "question", value: "And in Riga?" });

  await until(() => box(tab).value, "And in Riga?");
  await until(() => results(tab), [{ result: { field: "question", value: "And in Riga?" } }]);
});

test("the second of two calls is not made if the answer is stopped before", async (t) => {
  const tab = await openPage(t);
  const made = [];
  const run = ({ n }) => {
    made.push(n);
    return new Promise(() => {});
  };
  tab.window.quickapps.tools.register({ name: "shop.count", run });
  await ask(tab, "twice");
  for (const n of [1, 2]) {
    const asked = { name: "shop.count", title: `Count ${n}`, arguments: { n } };
    tab.socket.say("interaction.requested", { key: `t:1:${n}:c`, kind: "client_tool", asked, due: null });
  }
  tab.socket.say("run.status", { status: "waiting" });
  await until(() => tab.texts(".decision").filter((text) => text.endsWith("Running on this page")).length, 2);
  tab.socket.end("stopped");
  await tab.appears("chat-answer .notice", "Stopped.");

  await ask(tab, "again");
  call(tab, "shop.count", { n: 3 });

  await until(() => made, [1, 3]);
});

test("a result is sent again until the server has taken it", async (t) => {
  const tab = await openPage(t);
  const answers = [new Response("", { status: 502 }), { state: "taken" }];
  tab.network.answer(`POST ${RESULT}`, () => answers.shift());
  tab.window.quickapps.tools.register({ name: "shop.count", run: () => 3 });
  await ask(tab, "Count");
  call(tab, "shop.count");

  await until(() => results(tab), [{ result: 3 }, { result: 3 }]);
});
