/** What is asked arrives once, and what is missed is fetched, whatever the connection does. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, askInVain, box, openChat, reload, send } from "./support/chat.js";
import { settle, until } from "./support/until.js";

const ONLINE = (tab) => tab.window.dispatchEvent(new tab.window.Event("online"));

test("a lost connection is reported, and what was missed arrives once", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "Count");
  socket.write("one ", "two ");
  await tab.shows(".answer-text", "one two");

  socket.cut();
  await tab.shows("#notice:not([hidden])", "Connection lost. Reconnecting…");
  socket.write("three ");
  socket.say("stage.opened", { stage: "1", title: "Counting", parent: null });

  await tab.shows("#notice:not([hidden])");
  await tab.shows(".answer-text", "one two three");
  await tab.shows(".step-title", "Counting");
  const opened = { type: "open", conversation: socket.conversation, application: "page-tests", after: 4 };
  assert.deepEqual(socket.frames("open"), [opened]);
  assert.deepEqual(socket.asked, ["Count"]);
});

test("a reload and a lost connection during an answer lose and repeat nothing", async (t) => {
  const first = await openChat(t);
  const { socket } = first;
  await ask(first, "First?");
  socket.write("One.");
  socket.end();
  await ask(first, "Second?");
  socket.write("Two, ");
  await first.shows(".answer-text", "One.", "Two,");

  const tab = await reload(t, first);
  await tab.shows(".answer-text", "One.", "Two,");
  assert.equal(socket.frames("open").at(-1).window, true);
  socket.write("and ");
  await tab.shows(".answer-text", "One.", "Two, and");
  socket.cut();
  socket.write("more.");
  await tab.shows(".answer-text", "One.", "Two, and more.");
  socket.end();

  await tab.shows(".working");
  assert.deepEqual(tab.texts(".question-text"), ["First?", "Second?"]);
  assert.deepEqual(tab.texts(".answer-text"), ["One.", "Two, and more."]);
  const { after, window } = socket.frames("open").at(-1);
  assert.ok(after > 0);
  assert.equal(window, undefined);
});

test("a question that the server has not confirmed is sent again with its id", async (t) => {
  const tab = await openChat(t);
  await askInVain(tab, "Are you there?");
  await tab.shows(".working", "Sending…");

  tab.socket.deaf = false;
  ONLINE(tab);

  await tab.shows(".working", "Thinking…");
  assert.deepEqual(tab.texts(".question-text"), ["Are you there?"]);
  const [first, second] = tab.socket.frames("ask");
  assert.deepEqual(first, second);
});

test("a question that was sent without a connection says when it will be sent", async (t) => {
  const tab = await openChat(t);
  await askInVain(tab, "Are you there?");
  tab.socket.isDown = true;
  tab.window.dispatchEvent(new tab.window.Event("offline"));

  await tab.shows(".working", "Will be sent when you’re back online.");
  assert.deepEqual(tab.texts(".composer-hint").filter(Boolean), []);

  tab.socket.isDown = tab.socket.deaf = false;
  ONLINE(tab);
  await tab.shows(".working", "Thinking…");
});

test("a question of another tab comes before one that is on its way", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "First");
  socket.write("One.");
  socket.end();
  await tab.shows(".answer-text", "One.");
  await askInVain(tab, "Mine");
  await tab.shows(".working", "Sending…");

  const answers = ["One."];
  for (const [text, answer] of Object.entries({ "Of another tab": "Two.", Mine: "Three." })) {
    socket.begin({ text });
    socket.write(answer);
    socket.end();
    answers.push(answer);
    await tab.shows(".answer-text", ...answers);
    assert.deepEqual(tab.texts(".question-text"), ["First", "Of another tab", "Mine"]);
    assert.equal(tab.count(".gap"), 0);
  }
  await tab.shows(".working");
});

test("a question of another tab is shown with its answer", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Mine");
  tab.socket.end("done", { text: "First." });
  await tab.shows(".answer-text", "First.");

  tab.socket.begin({ text: "Theirs, from another tab" });
  tab.socket.write("Second.");

  await tab.shows(".answer-text", "First.", "Second.");
  assert.deepEqual(tab.texts(".question-text"), ["Mine", "Theirs, from another tab"]);
  assert.ok(tab.hasButton("Stop"));
});

test("a question is on the page before the server has received it", async (t) => {
  const tab = await openChat(t);
  tab.socket.deaf = true;
  const drawn = new Promise((resolve) => tab.window.requestAnimationFrame(resolve));

  send(tab, "Seen at once");
  await drawn;

  assert.deepEqual(tab.texts(".question-text, .working"), ["Seen at once", "Sending…"]);
});

test("the page shows that it works from the question until the end of the answer", async (t) => {
  const tab = await openChat(t);
  await askInVain(tab, "How warm is it?");
  await tab.shows(".working", "Sending…");

  tab.socket.deaf = false;
  tab.socket.cut();
  await tab.shows(".working", "Thinking…");
  tab.socket.write("12 degrees");
  await tab.shows(".working");
  assert.equal(tab.count("markdown-text[data-growing]"), 1);
  tab.socket.end();
  await tab.shows(".working");
  tab.socket.deaf = true;
  await tab.click("Answer again");
  await tab.shows(".working", "Thinking…");
});

test("a question that is asked without a connection outlives a reload, and is asked once", async (t) => {
  const first = await openChat(t);
  const { socket } = first;
  await ask(first, "With one");
  socket.end("done", { text: "Yes." });
  await first.shows(".answer-text", "Yes.");
  socket.isDown = true;
  first.window.dispatchEvent(new first.window.Event("offline"));
  send(first, "Without one");
  await first.shows(".question-text", "With one", "Without one");

  socket.isDown = false;
  const second = await reload(t, first);
  await until(() => socket.asked, ["With one", "Without one"]);
  socket.end("done", { text: "Yes, too." });
  await second.shows(".answer-text", "Yes.", "Yes, too.");
  const third = await reload(t, second);

  await third.shows(".answer-text", "Yes.", "Yes, too.");
  assert.deepEqual(third.texts(".question-text"), ["With one", "Without one"]);
  assert.equal(box(third).value, "");
  assert.deepEqual(socket.asked, ["With one", "Without one"]);
});

test("a question that is refused is returned to the box", async (t) => {
  const tab = await openChat(t);
  await askInVain(tab, "Too soon");

  tab.socket.refuse("An answer is being written. Wait for it or stop it.", "run_going");

  await tab.shows("#problem:not([hidden])", "An answer is being written. Wait for it or stop it.");
  await until(() => box(tab).value, "Too soon");
  await tab.shows(".question-text");
});

for (const way of ["button", "Escape"]) {
  test(`an answer is stopped with ${way === "button" ? "a button" : "Escape"}`, async (t) => {
    const tab = await openChat(t);
    await ask(tab, "Never end");
    tab.socket.say("stage.opened", { stage: "1", title: "Endless", parent: null });
    tab.socket.write("On and on");
    await tab.shows(".answer-text", "On and on");

    if (way === "button") await tab.click("Stop");
    else tab.press(tab.document.body, "Escape");

    await tab.shows("chat-answer .notice", "Stopped. The answer is incomplete.");
    await tab.shows(".step-state", "Stopped");
    await tab.shows("#said", "Answer stopped.");
    assert.deepEqual(tab.socket.received.at(-1), { type: "stop" });
    await until(() => tab.focused === box(tab), true);
  });
}

test("Escape that closes something else does not stop the answer", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Continue");
  tab.press(tab.document.body, "Shift+Escape");
  tab.press(tab.document.body, "Escape", { isComposing: true });
  tab.press(tab.document.body, "Control+k");
  tab.press(tab.find("#palette[open] input"), "Escape");
  await settle();
  assert.deepEqual(tab.socket.frames("stop"), []);
});

test("a stop that did not reach the server is sent again", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Never end");
  tab.socket.write("On and on");
  await tab.shows(".answer-text", "On and on");
  tab.socket.isDown = true;
  tab.socket.cut();
  await tab.shows("#notice:not([hidden])", "Connection lost. Reconnecting…");
  await tab.click("Stop");

  tab.socket.isDown = false;
  ONLINE(tab);

  await tab.shows("chat-answer .notice", "Stopped. The answer is incomplete.");
});

test("a session that ended is reported, and the page does not connect again", async (t) => {
  const tab = await openChat(t);

  tab.socket.close(4401);

  await tab.shows("#notice:not([hidden])", /Reload the page to continue\./);
  await until(() => box(tab).disabled, true);
  ONLINE(tab);
  await settle();
  assert.equal(tab.socket.everybody.length, 1);
});

// @proves("D-12")
test("a failed answer shows its reference and is retried in its place", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "Break");
  socket.say("run.error", { text: "The model did not answer.", reference: "0a1b2c3d" });
  const asked = socket.journal[0].message;
  socket.end("failed");

  await tab.shows(".failure > div > p", "The model did not answer.", "Reference: 0a1b2c3d");
  await tab.shows("#warned", "The answer failed. The model did not answer.");
  await tab.click("Try again");

  await tab.shows(".failure");
  await tab.shows(".question-text", "Break");
  await until(() => socket.frames("ask").map(({ text, again = null }) => [text, again]), [["Break", null], ["", asked.id]]);
  await until(() => socket.run !== "", true);
  socket.end("done", { text: "Whole." });
  await tab.shows(".answer-text", "Whole.");
  assert.deepEqual(tab.texts(".question-text"), ["Break"]);
  assert.deepEqual(tab.texts(".failure"), []);
  assert.ok(!tab.hasButton("Try again"));
});

for (const [status, thumbs] of [
  ["failed", 0],
  ["stopped", 2],
]) {
  test(`an answer that ${status === "failed" ? "failed" : "was stopped"} is repeated with one button`, async (t) => {
    const tab = await openChat(t, { attributes: { feedback: "yes" } });
    await ask(tab, "Break");
    tab.socket.write("So far");
    tab.socket.end(status);
    await tab.appears(".answer-foot");

    assert.deepEqual([tab.hasButton("Try again"), tab.hasButton("Answer again")], [true, false]);
    assert.equal(tab.count(".thumb"), thumbs);

    await ask(tab, "And now?");
    tab.socket.end("done", { text: "Whole." });
    await until(() => tab.count(".answer-foot"), 2);
    assert.deepEqual([tab.hasButton("Try again"), tab.hasButton("Answer again")], [false, true]);
    assert.equal(tab.count(".thumb"), thumbs + 2);
  });
}

test("a retry that is refused leaves the failed attempt", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Break");
  tab.socket.say("run.error", { text: "The model did not answer.", reference: "0a1b2c3d" });
  tab.socket.end("failed");
  tab.socket.deaf = true;
  await tab.click("Try again");
  await tab.shows(".failure");

  tab.socket.refuse("The server is restarting.", "server_stopping");

  await tab.shows("#problem:not([hidden])", "The server is restarting.");
  await tab.appears(".failure", "The model did not answer.");
  assert.deepEqual(tab.texts(".question-text"), ["Break"]);
  assert.equal(box(tab).value, "");
});

test("an answer that was cut is continued, and read and copied as one", async (t) => {
  const heard = [];
  const speechSynthesis = {
    speak: (words) => heard.push(words.text),
    cancel: () => heard.push(""),
    getVoices: () => [],
    addEventListener() {},
  };
  class SpeechSynthesisUtterance {
    constructor(text) {
      this.text = text;
    }
    addEventListener() {}
  }
  const tab = await openChat(t, { change: (_, window) => Object.assign(window, { speechSynthesis, SpeechSynthesisUtterance }) });
  const { socket } = tab;
  await ask(tab, "A tale.");
  socket.write("Once **upon** ");
  socket.end("done", { finish_reason: "length" });
  const cut = socket.journal.at(-2).message.id;

  await tab.click("Continue");
  await tab.shows(".working", "Thinking…");
  await until(() => socket.frames("ask").length, 2);
  socket.write("a time.");
  socket.end();

  await tab.shows(".working");
  assert.equal(tab.count(".answer-foot"), 1);
  assert.deepEqual(tab.texts(".question-text"), ["A tale."]);
  assert.deepEqual(tab.texts("chat-answer .notice"), []);
  const { continues, text } = socket.frames("ask").at(-1);
  assert.deepEqual([continues, text], [cut, ""]);
  await tab.click("Copy as Markdown");
  const more = () => tab.click("More options for this answer");
  await more();
  await tab.click("Copy as text");
  await until(() => tab.copied.map((one) => one.split(/\s+/).join(" ")), ["Once **upon** a time.", "Once upon a time."]);
  await more();
  await tab.click("Read aloud");
  await tab.click("Stop reading");
  assert.deepEqual(heard.slice(-2).map((one) => one.split(/\s+/).join(" ")), ["Once upon a time.", ""]);
  assert.equal(tab.focused, await tab.button("More options for this answer"));
});

test("the address and the titles become those of the conversation", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "Hello");
  socket.end("done", { text: "Hello." });

  await until(() => tab.window.location.pathname, `/chat/page-tests/${socket.conversation}/`);
  await until(() => tab.document.title, "A conversation · Page tests");
  socket.send("list.changed", {
    conversations: [
      {
        id: socket.conversation,
        title: "A conversation",
        state: "done",
        updated_at: "2026-01-05T10:00:00+00:00",
        folder: null,
        address: `/chat/page-tests/${socket.conversation}/`,
        pinned: false,
        archived: false,
        application: { title: "Page tests", ended: false, letters: "Pt", tile: 1 },
      },
    ],
    deleted: [],
    is_whole: true,
  });
  const entry = await tab.appears("chat-history a", "A conversation");
  assert.equal(entry.getAttribute("aria-current"), "page");
});
