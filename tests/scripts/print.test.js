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
  assert.equal(time.textContent, new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }));
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

/** Draws what the frame of diagrams is asked for. @returns {Promise<string[]>} the texts, as they are drawn */
async function drawInFrame(tab) {
  const drawn = [];
  const frame = await tab.appears("iframe.drawing-frame");
  const tell = (data) => tab.window.dispatchEvent(Object.assign(new tab.window.Event("message"), { source, data }));
  const source = {
    postMessage({ id, text }) {
      drawn.push(text);
      tell({ id, svg: "<svg/>" });
    },
  };
  Object.defineProperty(frame, "contentWindow", { value: source });
  tell("ready");
  return drawn;
}

test("Ctrl+P draws the diagrams that were never in sight before it prints", async (t) => {
  const tab = await openChat(t);
  const printed = [];
  tab.window.print = () => printed.push(tab.count(".diagram-picture img"));
  await ask(tab, "Draw it");
  tab.socket.end("done", { text: "```mermaid\ngraph TD; a-->b\n```" });
  await tab.appears(".answer-foot");

  const pressed = new tab.window.KeyboardEvent("keydown", { key: "p", ctrlKey: true, cancelable: true, bubbles: true });
  tab.document.body.dispatchEvent(pressed);
  assert.equal(pressed.defaultPrevented, true);
  const drawn = await drawInFrame(tab);

  await until(() => printed, [1]);
  assert.deepEqual(drawn, ["graph TD; a-->b"]);
});

test("the browser prints a page without a conversation itself", async (t) => {
  const tab = await openChat(t);
  const printed = prints(tab);
  const pressed = new tab.window.KeyboardEvent("keydown", { key: "p", ctrlKey: true, cancelable: true, bubbles: true });

  tab.document.body.dispatchEvent(pressed);
  await settle();

  assert.deepEqual([pressed.defaultPrevented, printed], [false, []]);
});
