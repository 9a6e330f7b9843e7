/** Unseen answers, shown by the tab: its title counts them, its icon has a dot, and a hidden tab notifies unless another tab is visible. */

import { isOn } from "./browser-notices.js";
import { isQuiet } from "./quiet.js";
import { gettext } from "../texts.js";

/**
 * @typedef {{id: string, application: string, address: string, state: "waiting" | "unread" | "stopped"}} Calling
 * @typedef {{conversations: Calling[], quiet: import("./quiet.js").QuietHours | null}} Attention
 */

const WORDS = { waiting: gettext("Waiting for you"), unread: gettext("Answered"), stopped: gettext("A schedule was paused") };
const SEEN = "seen-tab";
const plain = new URL("../../images/icon.svg", import.meta.url).href;
const dotted = new URL("../../images/icon-dot.svg", import.meta.url).href;

/** Hold a browser lock while this tab is visible, so that hidden tabs know about it. */
function holdWhileSeen() {
  let release = () => {};
  const follow = () => {
    release();
    if (document.hidden) return;
    void navigator.locks.request(SEEN, { mode: "shared" }, () => {
      if (document.hidden) return undefined; // The tab was hidden before the lock was granted.
      return new Promise((resolve) => (release = () => resolve(undefined)));
    });
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}
// Without a secure origin, there are neither locks nor notifications.
if (navigator.locks) holdWhileSeen();

async function isSeenElsewhere() {
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === SEEN);
}

/** Conversations of all applications that need attention. */
export class CallingConversations {
  /** @type {Calling[] | null} */
  #calling = null;

  /** @param {Attention} attention */
  take({ conversations, quiet }) {
    const before = this.#calling;
    this.#calling = conversations;
    if (before === null || !document.hidden || isQuiet(quiet, new Date())) return;
    const known = new Set(before.map(key));
    for (const one of conversations) if (!known.has(key(one))) void notify(one);
  }

  /**
   * The number of other conversations that need attention. The open one counts while it is unread, because it is not being viewed.
   * @param {string | null} open @param {{id: string, state?: string}[]} listed the state in the page before the first update from the server
   */
  count(open, listed) {
    const calling = this.#calling ?? listed.filter(({ state }) => state === "waiting" || state === "unread");
    return calling.filter(({ id, state }) => id !== open || (this.#calling && state === "unread")).length;
  }
}

/** @param {boolean} isCalling */
export function dotIcon(isCalling) {
  const link = document.querySelector("link[rel=icon]");
  const wanted = isCalling ? dotted : plain;
  if (link instanceof HTMLLinkElement && link.href !== wanted) link.href = wanted;
}

/** The text does not reveal the conversation: others may see the screen. @param {Calling} one */
async function notify({ id, application, address, state }) {
  if (!isOn() || (await isSeenElsewhere())) return;
  // Notifications of several tabs with the same tag are merged.
  const shown = new Notification(application, { body: WORDS[state], tag: id, icon: plain });
  shown.addEventListener("click", () => {
    shown.close();
    window.focus();
    if (location.pathname !== address) location.assign(address);
  });
}

/** @param {Calling} one */
function key({ id, state }) {
  return `${id} ${state}`;
}
