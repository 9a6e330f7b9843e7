/** A conversation as a whole: its branches, titles, list, to-do list, feedback, and answers that wait. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { ask, box, openChat, reload } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { settle, until } from "./support/until.js";

/** A page with answered questions. */
async function openAnswered(t, questions, how) {
  const tab = await openChat(t, how);
  for (const [number, question] of questions.entries()) {
    await ask(tab, question);
    tab.socket.end("done", { text: `Answer ${number + 1}.` });
    await until(() => tab.count(".answer-foot"), number + 1);
  }
  return tab;
}

// @proves("10.2")
test("a step that failed stays marked though the answer goes on, also after a reload", async (t) => {
  const first = await openChat(t);
  await ask(first, "Try it");
  first.socket.step("desk · fail", { text: "no luck today", failed: true });
  first.socket.write("It did not work.");
  first.socket.end();
  await first.appears(".answer-foot");
  const isMarked = async (tab) => {
    await tab.shows(".answer-text", "It did not work.");
    await tab.shows(".step-title", "desk · fail");
    await tab.shows(".step[data-state=failed] .step-state", "Failed");
  };

  await isMarked(first);
  await isMarked(await reload(t, first));
});

test("a queued answer waits for its turn, also after a reload", async (t) => {
  const first = await openChat(t);
  await ask(first, "Two");
  first.socket.say("run.status", { status: "queued" });
  await first.shows(".working", "Queued…");

  const tab = await reload(t, first);
  await tab.shows(".working", "Queued…");
  tab.socket.say("run.status", { status: "running" });
  tab.socket.end("done", { text: "Here." });

  await tab.shows(".answer-text", "Here.");
  assert.equal(tab.count(".working, chat-answer .notice"), 0);
});

test("a turn is deleted after a confirmation, and the next one stays", async (t) => {
  const tab = await openAnswered(t, ["Hello", "And then?"]);
  const { socket } = tab;
  const [{ run, message }] = socket.journal;
  const remove = () => tab.button("Delete question and answer", tab.all("chat-question")[0]);
  (await remove()).click();
  await tab.shows("dialog.turn-deletion[open] blockquote", "Hello");
  await tab.click("Cancel", tab.find("dialog.turn-deletion"));
  await until(() => tab.count("dialog.turn-deletion"), 0);
  await until(() => tab.focused.dataset.action, "delete");

  tab.focused.click();
  await tab.appears("dialog.turn-deletion[open]");
  const take = socket.take.bind(socket);
  socket.take = (viewer, frame) => {
    if (frame.type !== "turn.delete") return take(viewer, frame);
    assert.deepEqual([frame.conversation, frame.message], [socket.conversation, message.id]);
    socket.hide(run);
  };
  await tab.click("Delete", tab.find("dialog.turn-deletion"));

  await tab.shows(".question-text", "And then?");
  await tab.shows("#said", "Question and answer deleted.");
  await until(() => tab.focused === box(tab), true);
});

test("the buttons below an answer show its other branches and keep the focus", async (t) => {
  const tab = await openAnswered(t, ["Hello"]);
  const { socket } = tab;
  const [{ run }] = socket.journal;
  const ids = [randomUUID(), randomUUID()];
  const show = (at) => {
    socket.branches = { [run]: { ids, at } };
    socket.say("branches.changed");
  };
  show(1);
  await tab.shows(".actions-place", "2/2");
  assert.ok(!tab.hasButton("Next answer"));
  const take = socket.take.bind(socket);
  socket.take = (viewer, frame) => {
    if (frame.type !== "branch.switch") return take(viewer, frame);
    show(ids.indexOf(frame.message));
  };
  await tab.click("Previous answer");

  await tab.shows(".actions-place", "1/2");
  await tab.shows("#said", "Showing a different branch.");
  await until(() => tab.focused.dataset.action, "previous");
  tab.press(tab.focused, "ArrowRight");
  assert.equal(tab.focused.dataset.action, "next");
});

test("a change of branches that does not reach the server is reported", async (t) => {
  const tab = await openAnswered(t, ["Hello"]);
  tab.socket.isDown = true;
  tab.socket.cut();
  await tab.shows("#notice:not([hidden])", "Connection lost. Reconnecting…");
  (await tab.button("Delete question and answer", tab.find("chat-question"))).click();
  await tab.appears("dialog.turn-deletion[open]");
  await tab.click("Delete", tab.find("dialog.turn-deletion"));

  await tab.shows("#problem:not([hidden])", "There is no connection. Try again when you’re back online.");
});

/** What the list knows of a conversation. */
function row(id, changes = {}) {
  return {
    id,
    title: "Elsewhere",
    state: "done",
    updated_at: "2026-01-05T10:00:00+00:00",
    folder: null,
    address: `/chat/page-tests/${id}/`,
    pinned: false,
    archived: false,
    application: { title: "Page tests", ended: false, letters: "Pt", tile: 1 },
    ...changes,
  };
}

function list(tab, ...rows) {
  tab.socket.send("list.changed", { conversations: rows, deleted: [], is_whole: true });
}

test("a title that a model writes is shown in the page, the tab and the list", async (t) => {
  const tab = await openAnswered(t, ["think reasoning soda bread"]);
  list(tab, row(tab.socket.conversation, { title: "soda bread" }));

  await tab.shows("#conversation-title", "soda bread");
  assert.equal(tab.document.title, "soda bread · Page tests");
  await tab.appears("chat-history a", "soda bread");
});

/** What a page needs to show another conversation in place. */
function dataOf(tab, conversation) {
  const data = JSON.parse(tab.find("#page-data").textContent);
  return { ...data, attributes: { ...data.attributes, conversation } };
}

test("a conversation opens in place, with its own draft, and the focus goes to the box", async (t) => {
  const tab = await openAnswered(t, ["A train?"]);
  const id = randomUUID();
  list(tab, row(id));
  tab.network.answer(`GET /chat/page-tests/${id}/page/`, () => dataOf(tab, id));
  tab.network.answer("GET /chat/page-tests/page/", () => dataOf(tab, ""));
  tab.fill(box(tab), "Half a thought");
  (await tab.appears("chat-history a", "Elsewhere")).click();

  await until(() => tab.window.location.pathname, `/chat/page-tests/${id}/`);
  await until(() => tab.socket.frames("open").at(-1).conversation, id);
  await until(() => [box(tab).value, tab.focused === box(tab)], ["", true]);
  assert.equal(tab.document.title, "Elsewhere · Page tests");
  await tab.shows("#said", "Elsewhere");
});

test("the focus stays where it was put while a conversation was fetched", async (t) => {
  const tab = await openAnswered(t, ["Where from?"]);
  const id = randomUUID();
  list(tab, row(id));
  let release;
  tab.network.answer(`GET /chat/page-tests/${id}/page/`, () => new Promise((resolve) => (release = () => resolve(dataOf(tab, id)))));
  const link = await tab.appears("chat-history a", "Elsewhere");
  link.focus();
  link.click();
  await until(() => typeof release, "function");
  const search = await tab.field("Search conversations");
  search.focus();
  release();

  await until(() => tab.window.location.pathname, `/chat/page-tests/${id}/`);
  await settle();
  assert.equal(tab.focused, search);
});

test("what is typed while another conversation is fetched is the draft of that one", async (t) => {
  const tab = await openAnswered(t, ["A train?"]);
  const first = tab.socket.conversation;
  const id = randomUUID();
  list(tab, row(id), row(first, { title: "A train?" }));
  let release;
  tab.network.answer(`GET /chat/page-tests/${id}/page/`, () => new Promise((resolve) => (release = () => resolve(dataOf(tab, id)))));
  tab.network.answer(`GET /chat/page-tests/${first}/page/`, () => dataOf(tab, first));
  tab.fill(box(tab), "Half a thought");
  (await tab.appears("chat-history a", "Elsewhere")).click();
  await until(() => typeof release, "function");
  tab.fill(box(tab), "Another thought");
  release();

  await until(() => tab.window.location.pathname, `/chat/page-tests/${id}/`);
  await until(() => box(tab).value, "Another thought");
  (await tab.appears("chat-history a", "A train?")).click();
  await until(() => box(tab).value, "Half a thought");
});

test("a question that is sent while a new conversation is fetched begins that one", async (t) => {
  const tab = await openAnswered(t, ["A train?"]);
  let release;
  tab.network.answer("GET /chat/page-tests/page/", () => new Promise((resolve) => (release = () => resolve(dataOf(tab, "")))));
  tab.find("#new-chat").click();
  await until(() => typeof release, "function");
  tab.fill(box(tab), "A ship?");
  tab.press(box(tab), "Enter");
  await settle();
  assert.deepEqual(tab.socket.asked, ["A train?"]);
  release();

  await until(() => tab.socket.asked, ["A train?", "A ship?"]);
  assert.equal(tab.socket.frames("open").at(-1).conversation, null);
  await until(() => box(tab).value, "");
});

test("a deletion can be undone, and the button keeps the focus when the next page loads late", async (t) => {
  const tab = await openAnswered(t, ["Late?"]);
  const { conversation } = tab.socket;
  const late = row(conversation, { title: "Late?" });
  list(tab, late);
  await tab.appears("chat-history a", "Late?");
  let release;
  tab.network.answer("GET /chat/page-tests/page/", () => new Promise((resolve) => (release = () => resolve(dataOf(tab, "")))));
  tab.network.answer(`POST ${late.address}delete/`, {});
  tab.network.answer(`POST ${late.address}restore/`, { conversation: late });
  tab.network.answer(`GET ${late.address}page/`, () => dataOf(tab, conversation));
  await tab.click("More options for Late?");
  await tab.click("Delete", await tab.appears("chat-history row-menu [role=menu]"));

  await tab.shows(".toast > span", "Conversation deleted.");
  const undo = await tab.button("Undo", tab.find("chat-toast"));
  await until(() => tab.focused === undo, true);
  await until(() => typeof release, "function");
  release();
  await until(() => tab.window.location.pathname, "/chat/page-tests/");
  await settle();
  assert.equal(tab.focused, undo);
  undo.click();

  await until(() => tab.window.location.pathname, late.address);
  assert.deepEqual(tab.network.sent(`${late.address}restore/`).length, 1);
});

// @proves("D-49")
test("the to-do list is ticked as it goes", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Make a list");
  assert.equal(tab.count(".todo"), 0);
  tab.socket.say("todo.changed", { text: "# Trip\n- [ ] Book the train\n  - [x] Pack the bag" });

  await tab.shows(".todo-count", "1 of 2 done");
  const items = tab.all(".todo-item").map((item) => [textOf(item), item.dataset.done, item.dataset.depth]);
  assert.deepEqual(items, [
    ["To do: Book the train", "false", "0"],
    ["Done: Pack the bag", "true", "1"],
  ]);
  assert.deepEqual(tab.texts(".todo-heading"), ["Trip"]);
  tab.socket.say("todo.changed", { text: "- [x] Book the train" });
  await tab.shows(".todo-count", "1 of 1 done");
});

test("feedback is given and removed, and a failure is reported", async (t) => {
  const tab = await openAnswered(t, ["Hello again."]);
  const { message } = tab.socket.journal.at(-2);
  const address = `/messages/${message.id}/feedback/`;
  const good = await tab.button("Good answer");
  tab.network.isDown = true;
  good.click();
  await tab.shows("chat-feedback [role=alert]", "That didn’t work. Check your connection and try again.");
  assert.equal(good.getAttribute("aria-pressed"), "false");

  tab.network.isDown = false;
  tab.network.answer(`POST ${address}`, {});
  tab.network.answer(`DELETE ${address}`, {});
  good.click();
  await tab.shows("chat-feedback [role=status]", "Thank you for your feedback.");
  assert.equal(good.getAttribute("aria-pressed"), "true");
  assert.equal(tab.count(".feedback-form select"), 0);
  tab.find(".feedback-form textarea").value = "Well done.";
  await tab.click("Send", tab.find(".feedback-form"));
  await until(() => tab.network.sent(address).map(({ body }) => body?.comment), ["", "Well done."]);
  good.click();
  await tab.click("Remove my feedback");

  await tab.shows("chat-feedback [role=status]", "Your feedback was removed.");
  assert.equal(good.getAttribute("aria-pressed"), "false");
  assert.equal(tab.focused, good);
});

test("an answer lists the memories that it used, also after a reload", async (t) => {
  const first = await openChat(t);
  await ask(first, "What do you know?");
  const memories = ["Does not like coffee", "Lives in Riga"].map((text) => ({ action: "recalled", text }));
  first.socket.end("done", { text: "Two things.", memories });
  const isListed = async (tab) => {
    await tab.shows(".memory-line summary", "Memory: recalled 2");
    await tab.shows(".memory-line li", "Recalled Does not like coffee", "Recalled Lives in Riga");
    assert.equal(tab.find(".memory-line a").getAttribute("href"), "/memory/");
  };

  await isListed(first);
  await isListed(await reload(t, first));
});

test("a visitor is offered no link to share, and a person with an account is", async (t) => {
  for (const account of ["", "7"]) {
    const change = (document) => (document.getElementById("main").dataset.account = account);
    const tab = await openAnswered(t, ["A train to Riga?"], { change });
    list(tab, row(tab.socket.conversation, { title: "A train to Riga?" }));
    await tab.click("More options for A train to Riga?");
    const menu = await tab.appears("row-menu [role=menu]", "Print");

    assert.equal(textOf(menu).includes("Share…"), account !== "");
    assert.equal(tab.find("#share").hidden, account === "");
  }
});

test("the key that the person chose sends an edited question, and the other one begins a line", async (t) => {
  const tab = await openAnswered(t, ["One", "Two"]);
  const edits = () => tab.socket.received.filter((frame) => frame.type === "ask" && frame.edits).map((frame) => frame.text);
  const edit = async (number) => {
    await tab.click("Edit the question", tab.all("chat-question")[number]);
    return tab.field("Edit the question");
  };

  const first = await edit(0);
  tab.press(first, "Shift+Enter");
  tab.press(first, "Enter", { isComposing: true });
  await settle();
  assert.deepEqual([first.value, edits()], ["One\n", []]);
  tab.fill(first, "One, please");
  tab.press(first, "Enter");
  await until(edits, ["One, please"]);
  tab.socket.end("done", { text: "Answer." });
  await until(() => tab.hasButton("Edit the question"), true);

  tab.document.documentElement.dataset.sendKey = "ctrl-enter";
  const second = await edit(0);
  tab.press(second, "Enter");
  await settle();
  assert.equal(edits().length, 1);
  tab.press(second, "Control+Enter");
  await until(() => edits().length, 2);
});

test("the search of the rail shows that it is searching, and keeps rows of an earlier search out of reach", async (t) => {
  const tab = await openAnswered(t, ["Hello"]);
  const hit = (title) => ({ ...row(randomUUID(), { title }), excerpt: "", message: "" });
  tab.network.answer("GET /conversations/search/*", { hits: [hit("Rivers")] });
  const field = await tab.field("Search conversations");
  tab.fill(field, "rivers");
  await tab.appears(".hits a", "Rivers");
  const held = [];
  tab.network.answer("GET /conversations/search/*", () => new Promise((resolve) => held.push(resolve)));

  tab.fill(field, "lakes");
  await tab.shows("history-search .working", "Searching…");
  assert.equal(tab.find(".hits").hasAttribute("inert"), true);
  tab.press(field, "ArrowDown");
  assert.equal(tab.focused, field);
  await until(() => held.length, 1);
  held[0]({ hits: [hit("Lakes")] });

  await tab.appears(".hits a", "Lakes");
  assert.deepEqual([tab.count("history-search .working"), tab.find(".hits").hasAttribute("inert")], [0, false]);
});

test("a row of the list is one Tab stop, and keys lead to its menu and back", async (t) => {
  const tab = await openAnswered(t, ["Hello"]);
  list(tab, row(randomUUID(), { title: "Rivers" }));
  const link = await tab.appears("chat-history a", "Rivers");
  const entry = link.closest(".history-entry");
  const stops = [...entry.querySelectorAll("a, button")].filter((one) => one.tabIndex >= 0);
  assert.deepEqual(stops, [link]);

  link.focus();
  tab.press(link, "ArrowRight");
  assert.equal(tab.focused, entry.querySelector(".row-more"));
  tab.press(tab.focused, "ArrowLeft");
  assert.equal(tab.focused, link);
  tab.press(link, "Shift+F10");
  await tab.appears("row-menu [role=menuitem]", "Rename");
});
