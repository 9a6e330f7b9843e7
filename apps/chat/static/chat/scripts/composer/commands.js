/** Commands with a keyboard shortcut, in the menu of the message box and in the palette. */

import { textOf } from "../session/answers.js";
import { copy } from "../clipboard.js";
import { gettext } from "../texts.js";

/**
 * @import { Announcer } from "../notices/announcer.js"
 * @import { ChatComposer } from "./composer.js"
 * @import { Session } from "../session/session.js"
 *
 * @typedef {object} PageCommand
 * @property {string} name the text after “/”
 * @property {string} detail
 * @property {string} icon
 * @property {string[]} [keys] such as Ctrl, Shift, O
 * @property {boolean} [isPage] whether it opens a page that the palette lists anyway
 * @property {() => boolean} [isOffered]
 * @property {() => void} act
 */

/**
 * @param {{session: Session, composer: ChatComposer, announcer: Announcer, go: (href: string) => Promise<void>, showShortcuts: () => void}} page
 * @returns {PageCommand[]}
 */
export function pageCommands({ session, composer, announcer, go, showShortcuts }) {
  /** @param {string} text @param {string} words @param {string} none */
  const take = async (text, words, none) => {
    if (!text) announcer.say(none);
    else announcer.say((await copy(text)) ? words : gettext("The text could not be copied. Try again."));
  };
  const beginTemporary = async () => {
    const begin = document.getElementById("new-chat");
    if (session.conversation.id && begin instanceof HTMLAnchorElement) await go(begin.href);
    if (isShown("temporary-switch")) click("temporary-switch");
  };
  return [
    { name: "new", detail: gettext("New chat"), icon: "plus", keys: ["Ctrl", "Shift", "O"], act: () => click("new-chat") },
    {
      name: "temporary",
      detail: gettext("Temporary chat"),
      icon: "clock",
      keys: ["Ctrl", "Shift", "'"],
      act: () => void beginTemporary(),
    },
    {
      name: "stop",
      detail: gettext("Stop the answer"),
      icon: "square",
      keys: ["Esc"],
      isOffered: () => session.busy,
      act: () => session.stop(),
    },
    {
      name: "copy",
      detail: gettext("Copy the last answer"),
      icon: "copy",
      keys: ["Ctrl", "Shift", "C"],
      isOffered: () => lastAnswer(session) !== "",
      act: () => void take(lastAnswer(session), gettext("The last answer was copied."), gettext("There is no answer yet.")),
    },
    {
      name: "copy-code",
      detail: gettext("Copy last code block"),
      icon: "copy",
      keys: ["Ctrl", "Shift", ";"],
      isOffered: () => lastCode() !== "",
      act: () => void take(lastCode(), gettext("The last code block was copied."), gettext("There is no code yet.")),
    },
    {
      name: "export",
      detail: gettext("Download the conversation"),
      icon: "download",
      isOffered: () => isShown("download"),
      act: () => click("download"),
    },
    { name: "print", detail: gettext("Print or save as PDF"), icon: "printer", isOffered: () => isShown("print"), act: () => click("print") },
    {
      name: "memory",
      detail: gettext("Turn memory on or off for this conversation"),
      icon: "file-text",
      isOffered: () => isShown("memory-switch"),
      act: () => click("memory-switch"),
    },
    { name: "settings", detail: gettext("Settings"), icon: "settings", keys: ["Ctrl", "."], isPage: true, act: () => location.assign("/settings/") },
    {
      name: "prompts",
      detail: gettext("Your prompts"),
      icon: "pencil",
      isPage: true,
      isOffered: () => document.querySelector(".sign-out") !== null,
      act: () => location.assign("/prompts/"),
    },
    { name: "shortcuts", detail: gettext("Keyboard shortcuts"), icon: "file-text", keys: ["Ctrl", "/"], act: showShortcuts },
    {
      name: "rail",
      detail: gettext("Show or hide the sidebar"),
      icon: "panel-left",
      keys: ["Ctrl", "Shift", "S"],
      act: toggleRail,
    },
    { name: "focus", detail: gettext("Focus the message box"), icon: "pencil", keys: ["Shift", "Esc"], isOffered: () => false, act: () => composer.focus() },
  ];
}

/** @param {Session} session */
function lastAnswer(session) {
  const turn = session.conversation.turns.findLast((turn) => turn.role === "assistant");
  return turn?.role === "assistant" ? textOf(turn).trim() : "";
}

function lastCode() {
  return [...document.querySelectorAll("chat-log pre code")].at(-1)?.textContent ?? "";
}

/** @param {string} id */
function isShown(id) {
  return document.getElementById(id)?.hidden === false;
}

/** @param {string} id */
function click(id) {
  document.getElementById(id)?.click();
}

function toggleRail() {
  const menu = document.querySelector(".menu");
  if (menu?.checkVisibility()) document.getElementById("sidebar")?.togglePopover();
  else click("rail-toggle");
}
