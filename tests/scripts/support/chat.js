/** The chat page against a scripted server. */

import { openTab } from "./tab.js";
import { until } from "./until.js";

/** Open the chat page of a new conversation. @param {import("node:test").TestContext} t @param {object} [how] as of `openTab` */
export async function openChat(t, how = {}) {
  const tab = await openTab(t, "chat", how);
  await until(() => tab.find("#composer").connected, true);
  return tab;
}

/** The box for questions. */
export function box(tab) {
  return tab.find("#question");
}

/** Write a question and send it, without waiting for the server. */
export function send(tab, text) {
  tab.fill(box(tab), text);
  tab.press(box(tab), "Enter");
}

/** Ask, and wait until the server has taken the question. */
export async function ask(tab, text) {
  const before = tab.socket.asked.length;
  send(tab, text);
  await until(() => [tab.socket.asked.slice(before), tab.texts(".working").includes("Sending…")], [[text], false]);
}

/** Send a question that reaches a server which does not answer it. */
export async function askInVain(tab, text) {
  tab.socket.deaf = true;
  send(tab, text);
  await until(() => tab.socket.asked.at(-1), text);
}
