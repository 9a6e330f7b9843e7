/** A new chat begins with the messages up to an answer. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { ask, box, openChat } from "./support/chat.js";
import { settle, until } from "./support/until.js";

/** A page with two answered questions, and what the server answers to a new chat from the first answer. */
async function openAnswered(t) {
  const tab = await openChat(t);
  for (const [number, question] of ["Hello", "And then?"].entries()) {
    await ask(tab, question);
    tab.socket.end("done", { text: `Answer ${number + 1}.` });
    await until(() => tab.count(".answer-foot"), number + 1);
  }
  const [{ message }] = tab.socket.journal.filter(({ type }) => type === "message.complete");
  return { tab, message, path: `/chat/page-tests/${tab.socket.conversation}/fork/` };
}

/** Choose the item in the menu below the first answer. */
async function choose(tab) {
  const [foot] = tab.all("answer-foot");
  await tab.click("More options for this answer", foot);
  await tab.click("New chat from here", foot);
}

test("a new chat from an answer is listed and opened", async (t) => {
  const { tab, message, path } = await openAnswered(t);
  const id = randomUUID();
  const address = `/chat/page-tests/${id}/`;
  const application = { title: "Page tests", ended: false, letters: "Pt", tile: "teal", emoji: "", icon: "" };
  const row = { id, title: "Hello (copy)", state: "done", updated_at: "2026-01-05T10:00:00+00:00", folder: null, address, pinned: false, archived: false, application };
  tab.network.answer(`POST ${path}`, Response.json({ conversation: row }, { status: 201 }));
  const data = JSON.parse(tab.find("#page-data").textContent);
  tab.network.answer(`GET ${address}page/`, { ...data, attributes: { ...data.attributes, conversation: id } });

  await choose(tab);

  await until(() => tab.window.location.pathname, address);
  assert.equal(tab.network.sent(path)[0].body.message, message.id);
  await tab.appears("chat-history a[aria-current=page]", "Hello (copy)");
  await tab.shows("#conversation-title", "Hello (copy)");
  await until(() => tab.focused === box(tab), true);
});

test("a new chat that the server refuses leaves the conversation open and gives the reason", async (t) => {
  const { tab, path } = await openAnswered(t);
  const before = tab.window.location.pathname;
  tab.network.answer(`POST ${path}`, Response.json({ error: { code: "application_deleted", message: "It was deleted." } }, { status: 410 }));

  await choose(tab);

  await tab.shows("#problem:not([hidden]) span", "It was deleted.");
  await settle();
  assert.equal(tab.window.location.pathname, before);
});
