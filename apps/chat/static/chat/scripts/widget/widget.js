/** The frame of the widget: a button, and the chat, which is loaded when it is opened. */

import { Host } from "./host.js";
import { applyTheme } from "./theme.js";
import { gettext } from "../texts.js";
import { knownVisitor, Memory, newVisitor } from "./visitor.js";

/**
 * @import { Chat } from "./chat.js"
 * @import { Visitor } from "./visitor.js"
 *
 * @typedef {object} Settings
 * @property {string} application
 * @property {string} title
 * @property {string} description
 * @property {import("../icons.js").Tile} tile
 * @property {import("../log/starters.js").Starters} starters
 * @property {string[]} hosts origins that may show the widget
 * @property {boolean} needsIdentity
 * @property {string} socket
 * @property {string} base the address below which visitors send requests
 * @property {string} token the address that gives tokens
 * @property {string} signIn the address of the window in which a user of this site signs in
 * @property {import("../files/uploads.js").Limits | null} uploads null where the application takes no files
 * @property {number} textLimit
 */

/** In pixels: the button with its shadow, and the chat. */
const CLOSED = { width: 80, height: 80 };
const OPEN = { width: 416, height: 680 };
const LONGEST_ASKED = 8_000;
/** The storage key under which a token survives one reload of the frame, for an identity that can be used only once. */
const ONCE = "widget once";

/** @type {Settings} */
const settings = JSON.parse(document.getElementById("widget-data")?.textContent ?? "{}");
const launcher = /** @type {HTMLButtonElement} */ (document.getElementById("launcher"));
const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
const notice = /** @type {HTMLElement} */ (document.getElementById("widget-notice"));
const signIn = /** @type {HTMLElement} */ (document.getElementById("widget-sign-in"));
const host = new Host(settings.hosts);
/** @type {Memory} */
let memory;
/** @type {Promise<Chat | null> | null} */
let chat = null;
let context = "";
/** @type {Promise<void>} */
let identifying = Promise.resolve();

host.addEventListener("connected", () => connected());
host.addEventListener("refused", () => say(gettext("This site can’t show the chat.")));
host.addEventListener("open", () => void open());
host.addEventListener("close", () => close());
host.addEventListener("ask", (event) => void ask(valueOf(event)));
host.addEventListener("context", (event) => takeContext(valueOf(event)));
host.addEventListener("theme", (event) => takeTheme(valueOf(event)));
host.addEventListener("locale", (event) => takeLocale(valueOf(event)));
host.addEventListener("identity", (event) => (identifying = identify(valueOf(event))));
launcher.addEventListener("click", () => void open());
signIn.addEventListener("click", (event) => event.target instanceof HTMLButtonElement && openSignIn());
document.getElementById("widget-close")?.addEventListener("click", () => close());
document.getElementById("widget-new")?.addEventListener("click", async () => (await chat)?.begin());
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing && !panel.hidden) void escape();
});
host.begin();

function connected() {
  memory = new Memory(settings.application, host.origin);
  launcher.hidden = false;
  host.tell("size", CLOSED);
  if (once("open")) void open();
}

async function open() {
  if (!memory) return; // Opened once the site is known.
  const wasOpen = !panel.hidden;
  panel.hidden = false;
  launcher.hidden = true;
  document.body.classList.add("open");
  host.tell("size", OPEN);
  if (!wasOpen) host.tell("opened");
  // An identity that arrives with the first messages belongs to this conversation.
  await new Promise((resolve) => setTimeout(resolve));
  await identifying;
  chat ??= start();
  const starting = chat;
  const started = await starting;
  if (!started && chat === starting) chat = null; // The next opening tries again.
  if (started) started.focus();
  else document.getElementById("widget-close")?.focus();
}

function close() {
  if (panel.hidden) return;
  const hadFocus = panel.contains(document.activeElement);
  panel.hidden = true;
  launcher.hidden = false;
  document.body.classList.remove("open");
  if (hadFocus) launcher.focus();
  host.tell("size", CLOSED);
  host.tell("closed");
}

/** The first press stops an answer. */
async function escape() {
  if (document.querySelector("dialog:modal, :popover-open")) return;
  if (!(await chat)?.stop()) close();
}

/** @param {Visitor} [identified] @returns {Promise<Chat | null>} null if the visitor may not chat */
async function start(identified) {
  const known = identified ?? onceVisitor() ?? knownVisitor(memory);
  const visitor = known ?? (settings.needsIdentity ? null : await anonymous());
  signIn.hidden = visitor !== null || !settings.needsIdentity;
  if (!visitor) {
    if (settings.needsIdentity) fail("identity_required", gettext("Sign in on this site to use the chat."));
    return null;
  }
  say("");
  const { Chat } = await import("./chat.js");
  const started = new Chat({ settings, visitor, memory, host, ended });
  started.context = context;
  return started;
}

/** @returns {Promise<Visitor | null>} */
async function anonymous() {
  const { visitor, problem } = await newVisitor(settings.token, host.origin);
  if (!visitor) {
    fail(problem.code, problem.message || gettext("The chat can’t be reached. Check your connection and try again."));
    return null;
  }
  memory.write("visitor", JSON.stringify(visitor));
  return visitor;
}

/** @param {unknown} identity that the server of the site has signed */
async function identify(identity) {
  if (typeof identity !== "string" || !identity) return fail("identity_invalid", "identity: must be a string.", false);
  const { visitor, problem } = await newVisitor(settings.token, host.origin, { identity });
  if (!visitor) return fail(problem.code, problem.message, false);
  await admit(visitor);
}

/** @param {Visitor} visitor who has an identity or an account */
async function admit(visitor) {
  if (!chat) {
    chat = start(visitor);
    if (!panel.hidden) (await chat)?.focus();
    return;
  }
  keepOnce("visitor", JSON.stringify(visitor));
  restart();
}

/** The browser blocks cookies in this frame, but not in a window. */
function openSignIn() {
  const opened = window.open(settings.signIn, "_blank", "popup,width=480,height=640");
  const controller = new AbortController();
  const { signal } = controller;
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== opened || origin !== location.origin || !Array.isArray(data) || data[0] !== "quickapps sign-in") return;
    controller.abort();
    void signedIn(String(data[1]));
  }, { signal });
}

/** @param {string} code */
async function signedIn(code) {
  const { visitor, problem } = await newVisitor(settings.token, host.origin, { code });
  if (!visitor) return fail(problem.code, problem.message);
  memory.write("visitor", JSON.stringify(visitor));
  await admit(visitor);
}

/** The token is not valid any more. @param {string} code @param {string} text */
function ended(code, text) {
  fail(code, text);
  memory.write("visitor", "");
  if (once("ended")) return; // Not twice in a row.
  keepOnce("ended", "yes");
  restart();
}

function restart() {
  if (!panel.hidden) keepOnce("open", "yes");
  location.reload();
}

/** @param {unknown} text */
async function ask(text) {
  if (typeof text !== "string" || !text.trim() || text.length > LONGEST_ASKED) {
    fail("ask_invalid", `ask: must be a string of 1 to ${LONGEST_ASKED} characters.`, false);
    return;
  }
  await open();
  (await chat)?.ask(text);
}

/** @param {unknown} value anything that JSON has; it is data for the model */
async function takeContext(value) {
  context = value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const started = await chat;
  if (started) started.context = context;
}

/** @param {unknown} value */
function takeTheme(value) {
  const unknown = applyTheme(value);
  if (unknown.length) fail("theme_invalid", `Unknown or invalid theme tokens: ${unknown.join(", ")}.`, false);
}

/** @param {unknown} locale */
function takeLocale(locale) {
  const address = new URL(location.href);
  if (typeof locale !== "string" || !/^[\w-]{2,20}$/.test(locale)) {
    fail("locale_invalid", "locale: must be a language tag such as de or pt-BR.", false);
    return;
  }
  if (address.searchParams.get("locale") === locale) return;
  address.searchParams.set("locale", locale);
  if (!panel.hidden) keepOnce("open", "yes");
  location.replace(address);
}

/** @param {string} code @param {string} text @param {boolean} [isShown] */
function fail(code, text, isShown = true) {
  host.tell("error", { code, text });
  if (isShown) say(text);
}

/** @param {string} text */
function say(text) {
  notice.textContent = text;
  notice.hidden = !text;
}

/** @returns {Visitor | null} */
function onceVisitor() {
  return JSON.parse(once("visitor") || "null");
}

/** @param {string} name @returns {string} the value that was stored for one reload */
function once(name) {
  try {
    const key = `${ONCE} ${settings.application} ${name}`;
    const kept = sessionStorage.getItem(key) ?? "";
    sessionStorage.removeItem(key);
    return kept;
  } catch {
    return "";
  }
}

/** @param {string} name @param {string} text */
function keepOnce(name, text) {
  try {
    sessionStorage.setItem(`${ONCE} ${settings.application} ${name}`, text);
  } catch {
    // The browser stores nothing: the frame starts again.
  }
}

/** @param {globalThis.Event} event */
function valueOf(event) {
  return /** @type {CustomEvent<unknown>} */ (event).detail;
}
