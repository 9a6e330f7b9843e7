/** The chat page against a scripted server. */

import { openTab } from "./tab.js";
import { until } from "./until.js";

const CONVERSATION = /^\/chat\/page-tests\/([\da-f-]{36})\/$/;

/**
 * Open the chat page: of the conversation in the path, or of a new one.
 * @param {import("node:test").TestContext} t
 * @param {object} [how] as of `openTab`, and what the page knows of the application:
 * @param {object} [how.starters] what differs from the usual ones
 * @param {object} [how.attributes] of the main element
 */
export async function openChat(t, { starters = {}, attributes = {}, change = () => {}, path = "/chat/page-tests/", ...how } = {}) {
  const [, conversation = ""] = CONVERSATION.exec(path) ?? [];
  const tab = await openTab(t, "chat", {
    ...how,
    path,
    change(document, window) {
      document.querySelector("script[data-socket]").dataset.conversation = conversation;
      const element = document.getElementById("page-data");
      const data = JSON.parse(element.textContent);
      Object.assign(data.attributes, { conversation }, attributes);
      Object.assign(data.starters, starters);
      element.textContent = JSON.stringify(data);
      for (const [name, value] of Object.entries(data.attributes)) document.getElementById("main").setAttribute(`data-${name}`, value);
      change(document, window);
    },
  });
  await until(() => tab.find("#composer").connected, true);
  return tab;
}

/** Reload the page, of which the server keeps the conversation and the browser its storage. */
export async function reload(t, tab) {
  const { socket, network, stored } = tab;
  const path = tab.window.location.pathname;
  await tab.close();
  return openChat(t, { path, socket, network, stored });
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
