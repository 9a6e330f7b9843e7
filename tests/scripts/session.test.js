/** What is asked arrives once, and what is missed is fetched, whatever the connection does. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, askInVain, openChat } from "./support/chat.js";

test("a lost connection is reported, and what was missed arrives once", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "Count");
  socket.write("one ", "two ");
  await tab.shows(".answer-text", "one two");

  socket.cut();
  await tab.shows("#notice:not([hidden])", "Connection lost, trying again…");
  socket.write("three ");
  socket.say("stage.opened", { stage: "1", title: "Counting", parent: null });

  await tab.shows("#notice:not([hidden])");
  await tab.shows(".answer-text", "one two three");
  await tab.shows(".step-title", "Counting");
  const opened = { type: "open", conversation: socket.conversation, application: "page-tests", after: 4 };
  assert.deepEqual(socket.frames("open"), [opened]);
  assert.deepEqual(socket.asked, ["Count"]);
});

test("a question that the server has not confirmed is sent again with its id", async (t) => {
  const tab = await openChat(t);
  await askInVain(tab, "Are you there?");
  await tab.shows(".working", "Sending…");

  tab.socket.deaf = false;
  tab.window.dispatchEvent(new tab.window.Event("online"));

  await tab.shows(".working", "Thinking…");
  assert.deepEqual(tab.texts(".question-text"), ["Are you there?"]);
  const [first, second] = tab.socket.frames("ask");
  assert.deepEqual(first, second);
});
