/** The box for questions: keys, drafts, starters, pasted texts, dictation, and what it refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, box, openChat, reload } from "./support/chat.js";
import { settle, until } from "./support/until.js";

const STARTERS = {
  intro_text: "What shall it be?",
  starters: [{ title: "The weather", text: "What is the weather in Oslo?" }],
};

test("Enter sends, and Shift+Enter begins a line", async (t) => {
  const tab = await openChat(t);
  tab.fill(box(tab), "one");
  tab.press(box(tab), "Shift+Enter");
  tab.fill(box(tab), `${box(tab).value}two`);
  assert.equal(box(tab).value, "one\ntwo");

  tab.press(box(tab), "Enter", { isComposing: true });
  tab.press(box(tab), "Enter", { keyCode: 229 });
  await settle();
  assert.deepEqual(tab.socket.asked, []);
  tab.press(box(tab), "Enter");

  await until(() => tab.socket.asked, ["one\ntwo"]);
  await until(() => box(tab).value, "");
  assert.equal(tab.find(".question-text").textContent.trim(), "one\ntwo");
});

test("a person can choose to send with Ctrl+Enter", async (t) => {
  const tab = await openChat(t);
  tab.document.documentElement.dataset.sendKey = "ctrl-enter";
  tab.fill(box(tab), "One");
  tab.press(box(tab), "Enter");
  await settle();
  assert.deepEqual([box(tab).value, tab.socket.asked], ["One\n", []]);

  tab.press(box(tab), "Control+Enter");
  await until(() => tab.socket.asked, ["One"]);
});

test("a draft outlives a reload", async (t) => {
  const first = await openChat(t);
  first.fill(box(first), "Half a thought");
  await settle();

  const tab = await reload(t, first);

  await until(() => box(tab).value, "Half a thought");
  assert.deepEqual(tab.socket.received, []);
});

test("the draft of an account outlives its tab, and is forgotten when the person signs out", async (t) => {
  const account = (number) => (document) => (document.getElementById("main").dataset.account = number);
  const first = await openChat(t, { change: account("7") });
  first.fill(box(first), "Half a thought");
  await settle();
  const second = await openChat(t, { stored: first.stored, change: account("7") });
  await until(() => box(second).value, "Half a thought");

  for (const other of ["", "8"]) {
    const tab = await openChat(t, { stored: second.stored, change: account(other) });
    await settle();
    assert.equal(box(tab).value, "");
    assert.deepEqual(Object.keys(tab.window.localStorage).filter((key) => key.startsWith("draft")), []);
  }
});

test("a question that is too long is counted and not sent", async (t) => {
  const tab = await openChat(t);
  tab.fill(box(tab), "x".repeat(100_001));

  await tab.shows("#question-count", "1 character too many");
  assert.ok(!tab.hasButton("Send"));
  tab.press(box(tab), "Enter");
  await tab.shows(".composer-problem", "Not sent. Shorten the message by 1 character.");
  assert.deepEqual(tab.socket.received, []);
  tab.fill(box(tab), "x");
  await tab.shows(".composer-problem", "");
});

test("a starter is asked at once", async (t) => {
  const tab = await openChat(t, { starters: STARTERS });
  await tab.shows(".starters h3", "What shall it be?");

  await tab.click("The weather");

  await tab.shows(".question-text", "What is the weather in Oslo?");
  await until(() => tab.socket.asked, ["What is the weather in Oslo?"]);
});

test("a starter can be changed first", async (t) => {
  const tab = await openChat(t, { starters: { ...STARTERS, auto_submit: false } });

  await tab.click("The weather");

  await until(() => box(tab).value, "What is the weather in Oslo?");
  await until(() => tab.focused === box(tab), true);
  assert.deepEqual(tab.socket.asked, []);
});

test("the starters stay if nothing can be typed", async (t) => {
  const tab = await openChat(t, { starters: { ...STARTERS, chat_message_input_disabled: true } });
  await until(() => box(tab).disabled, true);

  await tab.click("The weather");
  await tab.shows(".working", "Thinking…");
  tab.socket.end("done", { text: "Rain." });

  await tab.shows(".answer-text", "Rain.");
  await tab.click("The weather");
  await until(() => tab.count(".question-text"), 2);
});

/** Paste a text, or files. */
function paste(tab, { text = "", files = [] }) {
  const { window } = tab;
  const event = new window.Event("paste", { bubbles: true, cancelable: true });
  const types = [...(text ? ["text/plain"] : []), ...(files.length ? ["Files"] : [])];
  Object.assign(event, { clipboardData: { files, types, getData: () => text } });
  return box(tab).dispatchEvent(event);
}

test("a long text that is pasted becomes a file, or text again", async (t) => {
  const tab = await openChat(t);
  tab.press(box(tab), "Enter");
  await tab.shows(".composer-problem", "Enter a message first.");

  paste(tab, { text: "line\n".repeat(100) });
  await tab.shows(".chip[data-state=done] .chip-name", /^pasted-text-[\d-]+\.txt$/);
  await tab.shows(".composer-problem", "");
  await tab.click("Paste as text instead");

  await until(() => tab.count(".chip"), 0);
  await until(() => box(tab).value, "line\n".repeat(100));
  await until(() => tab.focused === box(tab), true);
});

test("a short text is pasted by the browser, and pictures become files with a name", async (t) => {
  const tab = await openChat(t);
  assert.equal(paste(tab, { text: "short" }), true);
  const picture = new tab.window.File(["x"], "image.png", { type: "image/png" });
  assert.equal(paste(tab, { text: "a table", files: [picture] }), true); // as office programs paste
  assert.equal(paste(tab, { files: [picture] }), false);
  await tab.shows(".chip-name", /^pasted-picture-[\d-]+\.png$/);
});

test("speech is transcribed while the person speaks", async (t) => {
  let recognition;
  class SpeechRecognition {
    start() {
      recognition = this;
    }
    stop() {
      this.onend();
    }
    abort() {}
  }
  const change = (document, window) => {
    document.documentElement.dataset.voice = "on";
    window.SpeechRecognition = SpeechRecognition;
  };
  const tab = await openChat(t, { change });
  tab.fill(box(tab), "Well,");
  const button = await tab.button("Dictate");
  button.click();
  await until(() => button.getAttribute("aria-pressed"), "true");

  recognition.onresult({ results: [[{ transcript: "good" }]] });
  await until(() => box(tab).value, "Well, good");
  recognition.onresult({ results: [[{ transcript: "good" }], [{ transcript: " day" }]] });
  await until(() => box(tab).value, "Well, good day");
  recognition.onerror({ error: "not-allowed" });
  await tab.shows(".composer-problem", "The microphone is blocked. Allow it for this site in your browser.");
  button.click();
  await until(() => button.getAttribute("aria-pressed"), "false");
});

test("a question in the address is put into the box, and taken out of the address", async (t) => {
  const tab = await openChat(t, { path: "/chat/page-tests/?q=What+is+this%3F" });

  await until(() => box(tab).value, "What is this?");
  assert.equal(tab.window.location.search, "");
  assert.deepEqual([tab.socket.asked, tab.count(".question")], [[], 0]);
});

test("the box gets the focus when the page is there, unless the person turned to something else", async (t) => {
  const tab = await openChat(t);
  await until(() => tab.focused === box(tab), true);

  const change = (document, window) =>
    void window.customElements.whenDefined("chat-history").then(() => document.getElementById("new-chat").focus());
  const other = await openChat(t, { change });
  await new Promise((drawn) => other.window.requestAnimationFrame(() => other.window.requestAnimationFrame(drawn)));
  await settle();
  assert.equal(other.focused.id, "new-chat");
});

test("what was typed stays while there is no connection", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Continue");
  tab.socket.isDown = true;
  tab.window.dispatchEvent(new tab.window.Event("offline"));
  await tab.shows("#notice:not([hidden])", "Connection lost. Reconnecting…");

  tab.fill(box(tab), "Stay");
  await tab.shows(".composer-hint", "You’re offline. Your text stays in the message box.");
  tab.press(box(tab), "Enter");
  await tab.shows(".composer-problem", "Not sent because there is no connection. Try again when you’re back online.");
  assert.equal(box(tab).value, "Stay");

  tab.socket.isDown = false;
  tab.window.dispatchEvent(new tab.window.Event("online"));
  await tab.shows("#notice:not([hidden])");
  tab.press(box(tab), "Enter");
  await until(() => tab.socket.asked, ["Continue", "Stay"]);
});
