/** A page of the site in a window: its document as the server renders it, and its scripts from their sources. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Window } from "happy-dom";
import { fillGaps } from "./gaps.js";
import { Network } from "./network.js";
import { isOwn, Scripts } from "./scripts.js";
import { ScriptedSocket, socketClass } from "./scripted-socket.js";
import { found, settle, until } from "./until.js";

const PAGES = join(import.meta.dirname, "..", "..", "..", "var", "test-pages");
const ORIGIN = "http://site.test";
const SETTINGS = {
  disableCSSFileLoading: true,
  disableJavaScriptFileLoading: true,
  enableJavaScriptEvaluation: true,
  suppressInsecureJavaScriptEnvironmentWarning: true,
};
const STORES = ["localStorage", "sessionStorage"];
const KEYS = { Ctrl: "ctrlKey", Control: "ctrlKey", Shift: "shiftKey", Alt: "altKey", Meta: "metaKey" };

/** The document of a page, or a part that its scripts fetch. @param {string} name as in `tests/scripts/pages.py` */
export function documentOf(name) {
  const file = join(PAGES, `${name}.html`);
  if (!existsSync(file)) throw new Error(`${file} is missing. Run: python -m tests.scripts.pages`);
  return readFileSync(file, "utf8");
}

/** A window without a document of the site, for scripts that need no more than that. */
export async function openWindow(t) {
  const tab = new Tab(new Window({ url: ORIGIN, settings: SETTINGS }), {});
  tab.document.write("<!doctype html><html lang=en><body></body></html>");
  t.after(() => tab.close());
  return tab;
}

/**
 * Open a page of the site and run its scripts. The test fails if one of them throws.
 * @param {import("node:test").TestContext} t
 * @param {string} name
 * @param {object} [how]
 * @param {string} [how.path]
 * @param {ScriptedSocket} [how.socket]
 * @param {Network} [how.network]
 * @param {Tab["stored"]} [how.stored] by another tab of the same browser
 * @param {(document: Document, window: Window) => void} [how.change] what differs from the page as it is rendered
 */
export async function openTab(t, name, { path = "/chat/page-tests/", socket, network, stored = [], change } = {}) {
  const window = new Window({ url: ORIGIN + path, settings: SETTINGS, width: 1280, height: 900 });
  const tab = new Tab(window, { socket, network });
  tab.keep(stored);
  window.document.write(documentOf(name));
  // A browser with scripts does not read what is in them.
  for (const element of window.document.querySelectorAll("noscript")) element.replaceChildren();
  // happy-dom overlooks the selected option of a long list.
  for (const option of window.document.querySelectorAll("option[selected]")) option.selected = true;
  change?.(window.document, window);
  t.after(() => tab.close());
  await tab.run();
  return tab;
}

export class Tab {
  /** @type {string[]} what scripts threw */
  problems = [];
  /** @type {string[]} what was copied */
  copied = [];

  constructor(window, { socket = new ScriptedSocket(), network = new Network() }) {
    this.window = window;
    this.document = window.document;
    this.socket = socket;
    this.network = network;
    this.scripts = new Scripts(window);
    fillGaps(window);
    window.addEventListener("error", (event) => this.problems.push(event.error?.stack ?? event.message));
    window.fetch = network.fetchOf(window);
    window.XMLHttpRequest = network.uploadClass(window);
    window.WebSocket = socketClass(window, socket);
    const clipboard = { writeText: async (text) => void this.copied.push(text) };
    Object.defineProperty(window.navigator, "clipboard", { value: clipboard });
    Object.defineProperty(window.document, "hidden", { value: false, configurable: true });
  }

  /** What the browser stores for the site. */
  get stored() {
    return STORES.map((store) => [store, { ...this.window[store] }]);
  }

  /** @param {Tab["stored"]} stored by another tab of the same browser */
  keep(stored) {
    for (const [store, items] of stored) {
      for (const [key, value] of Object.entries(items)) this.window[store].setItem(key, value);
    }
  }

  /** Run the scripts that the document names, in the order of a browser. */
  async run() {
    const addressOf = (script) => script.getAttribute("src");
    const later = (script) => script.type === "module" || script.defer;
    const named = [...this.document.querySelectorAll("script[src]")].filter((script) => isOwn(addressOf(script)));
    for (const script of named.filter((one) => !later(one))) this.scripts.run(addressOf(script), script);
    for (const script of named.filter(later)) {
      if (script.type === "module") await this.scripts.import(addressOf(script));
      else this.scripts.run(addressOf(script), script);
    }
    for (const target of [this.document, this.window]) {
      target.dispatchEvent(new this.window.Event("DOMContentLoaded"));
    }
  }

  /** Nothing more arrives, and what is being drawn is drawn to its end. */
  async close() {
    this.window.isGone = true;
    await settle();
    if (!this.window.closed) await this.window.happyDOM.close();
    assert.deepEqual(this.problems, []);
  }

  /** @param {string} selector @returns {any} the only element, or the last one */
  find(selector) {
    return [...this.document.querySelectorAll(selector)].at(-1) ?? null;
  }

  /** @param {string} selector */
  all(selector) {
    return [...this.document.querySelectorAll(selector)];
  }

  /** How many elements there are. @param {string} selector */
  count(selector) {
    return this.document.querySelectorAll(selector).length;
  }

  /** The texts of elements, with single spaces. @param {string} selector */
  texts(selector) {
    return this.all(selector).map(textOf);
  }

  /** Wait until elements have these texts, one each; one may be a pattern. @param {string} selector @param {...(string | RegExp)} texts */
  shows(selector, ...texts) {
    const compared = (text, n) => (texts[n] instanceof RegExp && texts[n].test(text) ? String(texts[n]) : text);
    return until(() => this.texts(selector).map(compared), texts.map(String));
  }

  /** Wait for an element and return it. @param {string} selector @param {string | RegExp} [text] that it has */
  appears(selector, text = "") {
    const has = (one) => (text instanceof RegExp ? text.test(textOf(one)) : textOf(one).includes(text));
    return found(() => this.all(selector).findLast(has));
  }

  /** Wait for a button that can be pressed and return it. @param {string | RegExp} name @param {Element} [within] */
  button(name, within = this.document) {
    return found(() => buttons(within).findLast((one) => matches(nameOf(one), name) && isShown(one)));
  }

  /** Whether there is a button that can be pressed. @param {string | RegExp} name */
  hasButton(name) {
    return buttons(this.document).some((one) => matches(nameOf(one), name) && isShown(one));
  }

  /** Wait for a field and return it. @param {string} label @param {Element} [within] */
  field(label, within = this.document) {
    return found(() => [...within.querySelectorAll("input, textarea, select")].findLast((one) => nameOf(one) === label && isShown(one)));
  }

  /** Press a button. @param {string | RegExp} name @param {Element} [within] */
  async click(name, within) {
    const button = await this.button(name, within);
    button.focus();
    button.click();
  }

  /** Replace the text of a field, as typing does. */
  fill(field, text) {
    field.focus();
    field.value = text;
    field.setSelectionRange?.(text.length, text.length);
    field.dispatchEvent(new this.window.InputEvent("input", { bubbles: true, composed: true }));
  }

  /** Choose an option of a list. */
  choose(field, value) {
    field.value = value;
    for (const type of ["input", "change"]) field.dispatchEvent(new this.window.Event(type, { bubbles: true }));
  }

  /** Press a key such as `Shift+Enter`; does what a browser does if no script prevents it. */
  press(element, pressed, more = {}) {
    const parts = pressed.split("+");
    const key = parts.pop() || "+";
    const modifiers = Object.fromEntries(parts.map((part) => [KEYS[part], true]));
    const how = { key, bubbles: true, cancelable: true, composed: true, ...modifiers, ...more };
    const goesOn = element.dispatchEvent(new this.window.KeyboardEvent("keydown", how));
    if (goesOn && key === "Enter" && !more.isComposing) enter(this, element);
    element.dispatchEvent(new this.window.KeyboardEvent("keyup", how));
    return goesOn;
  }

  get focused() {
    return this.document.activeElement;
  }
}

function enter(tab, element) {
  if (element.localName === "textarea") {
    tab.fill(element, `${element.value.slice(0, element.selectionStart)}\n${element.value.slice(element.selectionEnd)}`);
  } else if (element.localName === "input") element.form?.requestSubmit();
  else element.click();
}

/** @param {Element} element */
export function textOf(element) {
  return element.textContent.replace(/\s+/g, " ").trim();
}

/** The name of an element for people who do not see it. @param {any} element */
export function nameOf(element) {
  const label = element.getAttribute("aria-label");
  if (label) return label;
  const labelled = element.getAttribute("aria-labelledby");
  if (labelled) return labelled.split(" ").map((id) => textOf(element.ownerDocument.getElementById(id))).join(" ");
  if (["input", "textarea", "select"].includes(element.localName)) {
    const [named] = element.id ? element.ownerDocument.querySelectorAll(`label[for="${element.id}"]`) : [];
    return ownText(named ?? element.closest("label"));
  }
  return ownText(element) || element.getAttribute("title") || "";
}

/** Without what is hidden from people who do not see it, and without fields. */
function ownText(element) {
  if (!element) return "";
  const copy = element.cloneNode(true);
  for (const hidden of copy.querySelectorAll("[aria-hidden=true], [hidden], input, textarea, select")) hidden.remove();
  return textOf(copy);
}

function buttons(within) {
  return [...within.querySelectorAll("button, [role=button], [role=menuitem], summary")];
}

function isShown(element) {
  return !element.closest("[hidden]") && !element.disabled && element.getAttribute("aria-disabled") !== "true";
}

function matches(name, wanted) {
  return wanted instanceof RegExp ? wanted.test(name) : name === wanted;
}
