/** The conversation on the page: its gauge, its summary, turns that are not loaded, and the button that leads to the end. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { ScriptedSocket } from "./support/scripted-socket.js";
import { textOf } from "./support/tab.js";
import { until } from "./support/until.js";

const USE = { system: 100, tools: 200, user: 300, assistant: 400, tool_results: 200, total: 1200, limit: 1300, summary: null };

test("the gauge shows in words how full the window is", async (t) => {
  const tab = await openChat(t);
  const states = [
    ["ok", 0.31, "Context: 31 %"],
    ["warning", 0.9, "Context: 90 %, nearly full"],
    ["danger", 0.97, "Context: 97 %, full"],
  ];
  for (const [state, ratio, words] of states) {
    tab.network.answer("GET /chat/page-tests/*/usage/", { ...USE, ratio, state });
    await ask(tab, "Hello");
    tab.socket.end("done", { text: "Hello." });

    await tab.shows(`.gauge[data-state=${state}] button`, words);
  }
});

test("the gauge lists its parts, and is hidden before the first answer", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Hello");
  assert.equal(tab.count(".gauge"), 0);
  tab.network.answer("GET /chat/page-tests/*/usage/", { ...USE, limit: null, ratio: null, state: "unknown" });
  tab.socket.end("done", { text: "Hello." });

  await tab.shows(".gauge button", "Context: 1,200 tokens");
  const parts = tab.all(".gauge dl > div").map((row) => [...row.children].map(textOf));
  assert.deepEqual(parts, [
    ["Instructions", "100"],
    ["Tools", "200"],
    ["Questions", "300"],
    ["Answers", "400"],
    ["Tool results", "200"],
    ["Total", "1,200"],
  ]);
});

test("a summary is shown below the answer that it ends with", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Hello");
  const { run } = tab.socket;
  const summary = { after: run, text: "They greeted each other." };
  tab.network.answer("GET /chat/page-tests/*/usage/", { ...USE, ratio: 0.5, state: "ok", summary });
  tab.socket.end("done", { text: "Hello." });
  await ask(tab, "And now?");
  tab.socket.end("done", { text: "Now." });

  await tab.shows(".answer-text, .summary-text", "Hello.", "They greeted each other.", "Now.");
  await tab.shows(".summary-note", "The model reads this summary instead of everything above.");
});

/** A turn of a long conversation, as the server sends it. */
function turn(at) {
  const run = `run-${at}`;
  const message = (role, text) => ({ id: randomUUID(), role, text, attachments: [], created_at: "2026-01-05T10:00:00+00:00" });
  const events = [
    { type: "message.added", message: message("user", `Question ${at}`) },
    { type: "message.complete", message: { ...message("assistant", `Answer ${at}`), finish_reason: "stop" } },
    { type: "run.status", status: "done" },
  ];
  return { run, at, events: events.map((event, n) => ({ ...event, run, seq: at * 3 + n + 1 })) };
}

/** A page that has loaded the last two of ten turns. */
async function openLong(t) {
  const turns = Array.from({ length: 10 }, (_, at) => turn(at));
  const id = randomUUID();
  const socket = new ScriptedSocket();
  socket.conversation = id;
  const take = socket.take.bind(socket);
  socket.take = (viewer, frame) => {
    if (frame.type !== "open") return take(viewer, frame);
    socket.viewers.add(viewer);
    viewer.receive({
      type: "conversation.opened",
      conversation: id,
      title: "Long",
      last: 30,
      run: null,
      turns: turns.slice(8),
      before: "run-8",
      after: 30,
    });
  };
  const tab = await openChat(t, { path: `/chat/page-tests/${id}/`, socket });
  await tab.shows(".question-text", "Question 8", "Question 9");
  return { tab, turns };
}

test("turns that are not loaded are fetched, and those that do not come can be asked for again", async (t) => {
  const { tab, turns } = await openLong(t);
  await tab.click("Show earlier messages");
  await tab.shows(".gap [role=alert]", "These messages could not be loaded. Try again.");

  tab.network.answer("GET /chat/page-tests/*/turns/?before=run-8", { turns: turns.slice(5, 8) });
  await tab.click("Show earlier messages");
  await tab.shows(".question-text", "Question 5", "Question 6", "Question 7", "Question 8", "Question 9");
  assert.equal(tab.count(".gap [role=alert]"), 0);
  assert.equal(tab.count(".gap"), 1);

  tab.network.answer("GET /chat/page-tests/*/turns/?before=run-5", { turns: turns.slice(0, 5) });
  await tab.click("Show earlier messages");
  await until(() => tab.count(".question-text"), 10);
  assert.equal(tab.count(".gap"), 0);
  assert.equal(tab.focused.id, "main");
});

test("the button Jump to latest counts new answers", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Tell me much.");
  Object.defineProperty(tab.document.documentElement, "scrollHeight", { value: 3000 });
  const scroll = (top) => {
    Object.defineProperty(tab.window, "scrollY", { value: top, configurable: true, writable: true });
    tab.window.dispatchEvent(new tab.window.Event("scroll"));
  };
  scroll(2100); // the bottom
  scroll(1500);
  await tab.shows("#jump:not([hidden])", "Jump to latest");
  tab.socket.end("done", { text: "Much." });
  await tab.shows("#jump:not([hidden])", "Jump to latest: 1 new answer");
  await ask(tab, "More");
  scroll(1000);
  tab.socket.end("done", { text: "More." });
  await tab.appears("#jump:not([hidden])", /^Jump to latest: \d new answers?$/);

  tab.find("#jump").click();
  scroll(2100);

  await until(() => tab.find("#jump").hidden, true);
  assert.equal(tab.focused.id, "question");
});
