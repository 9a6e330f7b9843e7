/** Messages that are sent while an answer is going. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { ask, box, openChat, send } from "./support/chat.js";
import { until } from "./support/until.js";

/** A server that queues what is asked while an answer is going. */
function queueing(socket) {
  const messages = [];
  const tell = () => socket.send("queue.changed", { conversation: socket.conversation, messages });
  const take = socket.take.bind(socket);
  socket.take = (viewer, frame) => {
    const message = messages.find(({ id }) => id === frame.id);
    if (frame.type === "ask" && socket.run) {
      socket.received.push(frame);
      messages.push({ id: randomUUID(), request: frame.id, text: frame.text, attachments: [], held: false, problem: "" });
      tell();
    } else if (message) {
      socket.received.push(frame);
      if (frame.type === "queue.change") Object.assign(message, { text: frame.text ?? message.text, held: frame.held ?? message.held });
      else messages.splice(messages.indexOf(message), 1);
      tell();
    } else take(viewer, frame);
  };
  return { messages, tell };
}

/** A page whose answer is going, and a queue with these texts. */
async function openQueue(t, ...texts) {
  const tab = await openChat(t);
  const queue = queueing(tab.socket);
  await ask(tab, "Continue");
  await tab.shows(".working", "Thinking…");
  for (const text of texts) send(tab, text);
  await until(() => queue.messages.map(({ text }) => text), texts);
  await tab.shows(".queue .question-text", ...texts);
  return { tab, queue };
}

/** What the page asked of the queue, without the ids. */
function orders(tab) {
  return tab.socket.received.filter(({ type }) => type.startsWith("queue.")).map(({ id: _, ...order }) => order);
}

test("a message that is sent during an answer is queued and announced", async (t) => {
  const { tab } = await openQueue(t);
  tab.fill(box(tab), "Second");
  await tab.shows(".composer-hint", "Press Enter to queue the message. It will be sent after this answer.");
  tab.press(box(tab), "Enter");

  await tab.shows(".queue .question-state", "Queued");
  await tab.shows("#said", "Message queued. It will be sent after this answer.");
  assert.equal(box(tab).value, "");
  assert.deepEqual(tab.texts("chat-log .question-text"), ["Continue"]);
});

test("a message is shown in the queue before the server has taken it", async (t) => {
  const { tab } = await openQueue(t);
  tab.socket.deaf = true;
  tab.socket.take = () => {};
  send(tab, "Second");

  await tab.shows(".queue .question-state", "Sending…");
  assert.deepEqual(tab.texts(".queue .question-text"), ["Second"]);
});

test("a queued message is held while it is being changed", async (t) => {
  const { tab } = await openQueue(t, "Secnd", "Third");
  await tab.click("Edit Secnd");
  const field = await tab.field("Queued message");
  await until(() => tab.focused === field, true);
  assert.equal(field.value, "Secnd");

  tab.fill(field, "Second");
  tab.press(field, "Enter");

  await tab.shows(".queue .question-text", "Second", "Third");
  await until(() => tab.focused.id.startsWith("edit-"), true);
  assert.deepEqual(orders(tab), [
    { type: "queue.change", held: true },
    { type: "queue.change", text: "Second", held: false },
  ]);
});

test("a message that is being changed stays when the answer ends", async (t) => {
  const { tab, queue } = await openQueue(t, "Secnd");
  await tab.click("Edit Secnd");
  tab.fill(await tab.field("Queued message"), "Second");
  tab.socket.end("done", { text: "Over." });
  queue.tell();

  await tab.shows(".answer-text", "Over.");
  assert.equal((await tab.field("Queued message")).value, "Second");
  await tab.click("Save");
  await until(() => queue.messages.map(({ text, held }) => [text, held]), [["Second", false]]);
});

test("a change is cancelled with Escape, which does not stop the answer", async (t) => {
  const { tab } = await openQueue(t, "Second");
  await tab.click("Edit Second");
  const field = await tab.field("Queued message");
  tab.fill(field, "Other");
  tab.press(field, "Escape");

  await tab.shows(".queue .question-text", "Second");
  await until(() => orders(tab).at(-1), { type: "queue.change", held: false });
  assert.deepEqual(tab.socket.frames("stop"), []);
});

test("an empty change is not saved", async (t) => {
  const { tab } = await openQueue(t, "Second");
  await tab.click("Edit Second");
  tab.fill(await tab.field("Queued message"), "  ");
  await tab.click("Save");

  await tab.shows(".queue .field-error", "Not saved. Enter a message, or cancel and remove it.");
  await until(() => orders(tab), [{ type: "queue.change", held: true }]);
});

test("a queued message is removed, or sent at once, and the box has the focus", async (t) => {
  const { tab } = await openQueue(t, "Second", "Third");
  await tab.click("Remove Second");
  await tab.shows("#said", "Message removed.");
  await tab.shows(".queue .question-text", "Third");
  await until(() => tab.focused === box(tab), true);

  await tab.click("Stop and send now Third");
  await tab.shows("#said", "Message sent.");
  await until(() => tab.count(".queue li"), 0);
  assert.deepEqual(orders(tab), [{ type: "queue.remove" }, { type: "queue.send" }]);
});

test("after a stop the queue is held until a message is sent by hand", async (t) => {
  const { tab, queue } = await openQueue(t, "Later");
  await tab.click("Stop");
  await tab.shows("chat-answer .notice", "Stopped. No answer was written.");
  queue.messages[0].held = true;
  queue.tell();

  await tab.shows(".queue .question-state", "On hold. Choose “Send now” to send this message.");
  await tab.click("Send now Later");
  await until(() => orders(tab), [{ type: "queue.send" }]);
});

test("a queued message that could not be sent shows why", async (t) => {
  const { tab, queue } = await openQueue(t, "Later");
  Object.assign(queue.messages[0], { held: true, problem: "The budget is used up." });
  queue.tell();

  await tab.shows(".queue .question-state", "Not sent: The budget is used up.");
});

test("an order that does not reach the server is reported with what was typed", async (t) => {
  const { tab } = await openQueue(t, "Secnd");
  await tab.click("Edit Secnd");
  tab.fill(await tab.field("Queued message"), "Second");
  tab.socket.isDown = true;
  tab.socket.cut();
  await tab.shows("#notice:not([hidden])", "Connection lost. Reconnecting…");
  await tab.click("Save");

  await tab.shows("#problem:not([hidden])", "There is no connection. Try again when you’re back online.");
  await until(() => box(tab).value, "Second");
});

test("a change that comes too late is returned to the box", async (t) => {
  const { tab, queue } = await openQueue(t, "Secnd");
  await tab.click("Edit Secnd");
  tab.fill(await tab.field("Queued message"), "Second");
  await until(() => orders(tab).length, 1);
  queue.messages.length = 0;
  tab.socket.take = () => {};
  await tab.click("Save");
  queue.tell();
  tab.socket.refuse("This message was sent already.", "not_queued");

  await tab.shows("#problem:not([hidden])", "This message was sent already.");
  await until(() => box(tab).value, "Second");
});

test("maintenance is shown and switches sending off until it is over", async (t) => {
  const tab = await openChat(t);
  tab.socket.send("read_only.changed", { text: "Read-only for now." });
  await tab.shows("#read-only-notice", "Read-only for now.");
  assert.equal(box(tab).placeholder, "You can’t send messages during maintenance");
  assert.equal(box(tab).disabled, true);

  tab.socket.send("read_only.changed", { text: "" });
  await until(() => box(tab).disabled, false);
  assert.equal(tab.document.querySelector("#read-only-notice").hidden, true);
});

test("the list and the title follow other conversations", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Hello");
  const { conversation } = tab.socket;
  tab.socket.end("done", { text: "Hello." });
  await until(() => tab.document.title, "A conversation · Page tests");
  const icon = tab.document.querySelector("link[rel=icon]");
  const other = { id: randomUUID(), application: "Other", address: "/chat/other/", state: "waiting" };
  const row = {
    ...other,
    title: "Elsewhere",
    updated_at: "2026-01-05T10:00:00+00:00",
    folder: null,
    pinned: false,
    archived: false,
    application: { title: "Other", ended: false, letters: "O", tile: 1 },
  };

  tab.socket.send("list.changed", { conversations: [row], deleted: [], is_whole: true });
  await until(() => tab.count(".history-mark[data-state=waiting]"), 1);
  tab.socket.send("attention.changed", { conversations: [other, { ...other, id: conversation }], quiet: null });
  await until(() => tab.document.title, "(1) A conversation · Page tests");
  assert.match(icon.href, /icon-dot\.svg$/);

  // The open conversation counts while it is unread: nobody looks at it.
  tab.socket.send("attention.changed", { conversations: [other, { ...other, id: conversation, state: "unread" }], quiet: null });
  await until(() => tab.document.title, "(2) A conversation · Page tests");
  tab.socket.send("attention.changed", { conversations: [], quiet: null });
  await until(() => tab.document.title, "A conversation · Page tests");
  assert.match(icon.href, /icon\.svg$/);
});
