/** Several conversations of the rail are selected with the pointer or the keyboard, and changed with one request. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { openChat } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { settle, until } from "./support/until.js";

const NAMES = ["One", "Two", "Three", "Four"];

/** What the list knows of a conversation; the first is the newest. */
function row(title, place, changes = {}) {
  const id = randomUUID();
  const updated_at = `2026-01-05T10:0${9 - place}:00+00:00`;
  const application = { title: "Page tests", ended: false, letters: "Pt", tile: "teal", emoji: "", icon: "" };
  return { id, title, state: "done", updated_at, folder: null, address: `/chat/page-tests/${id}/`, pinned: false, archived: false, application, ...changes };
}

/** The chat page with four conversations, one of which is being selected. */
async function openSelection(t, first = "One") {
  const tab = await openChat(t);
  const rows = NAMES.map((name, place) => row(name, place));
  tab.socket.send("list.changed", { conversations: rows, deleted: [], is_whole: true });
  await tab.appears("chat-history a", "Four");
  await tab.click(`More options for ${first}`);
  await tab.click("Select", await tab.appears("chat-history row-menu [role=menu]"));
  await tab.shows(".selection-count > span", "1 selected");
  return { tab, rows };
}

/** The names of the selected rows. */
function selected(tab) {
  return tab.all(".history-pick[aria-checked=true] .history-title").map(textOf);
}

function pick(tab, name) {
  return tab.all(".history-pick").find((one) => textOf(one).includes(name));
}

function click(tab, name, shiftKey = false) {
  pick(tab, name).dispatchEvent(new tab.window.MouseEvent("click", { bubbles: true, cancelable: true, shiftKey }));
  return settle();
}

test("a click selects one more conversation, and a click with Shift selects the range", async (t) => {
  const { tab } = await openSelection(t);
  assert.deepEqual(selected(tab), ["One"]);
  assert.equal(tab.find(".history-search").closest("[hidden]") !== null, true);

  await click(tab, "Three");
  assert.deepEqual(selected(tab), ["One", "Three"]);
  await click(tab, "Four", true);
  assert.deepEqual(selected(tab), ["One", "Three", "Four"]);
  await click(tab, "Two", true);
  assert.deepEqual(selected(tab), ["One", "Two", "Three"]);
  await click(tab, "One");
  assert.deepEqual(selected(tab), ["Two", "Three"]);
  await tab.shows(".selection-count > span", "2 selected");
  await until(() => textOf(tab.find("#said")), "2 selected");
});

test("Shift with an arrow key selects a range, Ctrl+A everything, and Escape ends the selection", async (t) => {
  const { tab } = await openSelection(t, "Two");
  await until(() => tab.focused === pick(tab, "Two"), true);

  tab.press(tab.focused, "Shift+ArrowDown");
  await settle();
  assert.deepEqual([selected(tab), textOf(tab.focused)], [["Two", "Three"], textOf(pick(tab, "Three"))]);
  tab.press(tab.focused, "Shift+ArrowUp");
  tab.press(tab.focused, "Shift+ArrowUp");
  await settle();
  assert.deepEqual(selected(tab), ["One", "Two"]);
  tab.press(tab.focused, "Control+a");
  await settle();
  assert.deepEqual(selected(tab), NAMES);
  assert.equal(tab.press(tab.focused, "Escape"), false);

  await until(() => [tab.count(".history-pick"), tab.count("selection-bar")], [0, 0]);
  await until(() => tab.focused.localName, "a");
});

test("the selected conversations are archived with one request, which can be undone", async (t) => {
  const { tab, rows } = await openSelection(t);
  await click(tab, "Two", true);
  const sent = [];
  tab.network.answer("POST /conversations/selected/", ({ body }) => {
    sent.push(body);
    const changed = rows.filter(({ id }) => body.conversations.includes(id));
    return { changed: changed.map(({ id }) => id), conversations: changed.map((one) => ({ ...one, archived: body.archived === "true" })) };
  });

  await tab.click("Archive", tab.find("selection-bar"));
  await tab.shows(".toast > span", "2 conversations archived.");
  assert.deepEqual(tab.texts("chat-history a .history-title"), ["Three", "Four"]);
  await tab.click("Undo", tab.find("chat-toast"));
  await until(() => tab.texts("chat-history a .history-title"), NAMES);

  const conversations = [rows[0].id, rows[1].id].join();
  assert.deepEqual(sent.map(({ csrfmiddlewaretoken, ...rest }) => rest), [
    { conversations, archived: "true" },
    { conversations, archived: "false" },
  ]);
});

test("a deletion that the server refuses leaves the selection as it is", async (t) => {
  const { tab } = await openSelection(t);
  tab.network.answer("POST /conversations/selected/", Response.json({ error: { code: "x", message: "Not now." } }, { status: 409 }));

  await tab.click("Delete", tab.find("selection-bar"));

  await tab.shows("chat-history .field-error", "Not now.");
  assert.deepEqual(selected(tab), ["One"]);
});

test("the selected conversations are moved into a folder that is created for them", async (t) => {
  const { tab, rows } = await openSelection(t);
  await click(tab, "Four");
  const folders = [{ id: 7, name: "Trips", collapsed: false }];
  tab.network.answer("POST /conversations/folders/", { folders, folder: 7 });
  tab.network.answer("POST /conversations/selected/", ({ body }) => {
    const changed = rows.filter(({ id }) => body.conversations.includes(id));
    return { changed: changed.map(({ id }) => id), conversations: changed.map((one) => ({ ...one, folder: Number(body.folder) })) };
  });

  await tab.click("Move…", tab.find("selection-bar"));
  const dialog = await tab.appears("history-dialog dialog[open]", "Choose a folder for 2 conversations");
  tab.fill(dialog.querySelector("[name=text]"), "Trips");
  dialog.querySelector("form").requestSubmit();

  await tab.appears(".history-folder", "Trips");
  await until(() => tab.texts(".history-folder a .history-title"), ["One", "Four"]);
  await until(() => tab.count("selection-bar"), 0);
});
