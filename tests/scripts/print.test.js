/** A conversation is printed from its menu, with the date of each question. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { settle, until } from "./support/until.js";

/** The number of questions at each call of the browser's print dialog. */
function prints(tab) {
  const found = [];
  tab.window.print = () => found.push(tab.count(".question"));
  return found;
}

test("the menu of a conversation opens the print dialog, but not before its first question", async (t) => {
  const tab = await openChat(t);
  const printed = prints(tab);
  assert.equal(tab.find("#print").hidden, true);
  await ask(tab, "Hello");
  tab.socket.end("done", { text: "Hello." });
  await tab.appears(".answer-foot");
  assert.equal(tab.find("#print").hidden, false);

  tab.find("#print").click();

  await until(() => printed, [1]);
});

test("the date of a question is in the print", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Hello");
  const at = "2026-01-05T10:00:00+00:00";

  const time = await tab.appears("chat-question time.printed");

  assert.equal(time.getAttribute("datetime"), at);
  assert.equal(time.textContent, new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" }));
});

test("an address that asks for it opens the print dialog when the conversation is there", async (t) => {
  const first = await openChat(t);
  await ask(first, "Hello");
  first.socket.end("done", { text: "Hello." });
  await first.appears(".answer-foot");
  await settle();
  const { socket, network, stored } = first;
  const path = first.window.location.pathname;
  await first.close();
  const printed = [];

  const tab = await openChat(t, {
    path,
    socket,
    network,
    stored,
    change(document, window) {
      window.history.replaceState(null, "", `${path}#print`);
      window.print = () => printed.push(document.querySelectorAll(".question").length);
    },
  });

  await until(() => printed, [1]);
  assert.equal(tab.count(".question"), 1);
});
