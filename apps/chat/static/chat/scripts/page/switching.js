/** Opens another conversation without leaving the page; the URL and the browser's buttons follow. */

import { showApplication, takeData } from "./application.js";
import { clearNotices } from "./notices.js";
import { announcer, composer, element, follower, history, page } from "./parts.js";
import { beginning, draftKey, limits, session, base, uploads } from "./session.js";
import { entitle } from "./title.js";
import { get } from "../requests.js";
import { gettext } from "../texts.js";

const CONVERSATION = /^\/chat\/[-\w]+\/(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/)?$/;
const sidebar = element("sidebar", HTMLElement);
let shown = location.pathname;
let opening = 0;
/** @type {{key: string, text: string} | null} a question that was on its way when its conversation was left */
let unconfirmed = null;

/** Open links of the sidebar in place, and handle the browser's buttons. */
export function offerSwitching() {
  sidebar.addEventListener("click", follow);
  element("beneath", HTMLElement).addEventListener("click", follow);
  addEventListener("popstate", () => {
    if (location.pathname === shown) return;
    if (CONVERSATION.test(location.pathname)) void open(location.href);
    else location.reload(); // The server renders the home page.
  });
}

/** @param {MouseEvent} event */
function follow(event) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link?.hash && link.pathname === location.pathname && sidebar.matches(":popover-open")) sidebar.hidePopover();
  if (!link || !isPlain(event) || !CONVERSATION.test(link.pathname) || link.origin !== location.origin) return;
  if (link.hasAttribute("download") || link.search) return; // A question in a URL is only read on a first load.
  event.preventDefault();
  void go(link.href);
}

/** The new conversation has a URL now. */
export function noteAddress() {
  shown = location.pathname;
}

/** Checks whether the question that was being sent arrived. */
export function confirmLeft() {
  if (unconfirmed && composer.drafts?.read(unconfirmed.key) === unconfirmed.text) composer.drafts.write(unconfirmed.key, "");
  unconfirmed = null;
}

/** The question was rejected: it becomes the draft of its conversation. */
export function keepLeft() {
  unconfirmed = null;
}

/**
 * Show another conversation and focus its message box, unless the user went elsewhere while it was loading.
 * @param {string} href of a conversation, or of an application for a new one @param {{takesFocus?: boolean}} [how]
 */
export async function go(href, { takesFocus = true } = {}) {
  const { pathname } = new URL(href);
  const focused = document.activeElement;
  if (await open(href)) {
    const isElsewhere = ![focused, document.body].includes(document.activeElement);
    if (sidebar.matches(":popover-open")) sidebar.hidePopover();
    if (!takesFocus || isElsewhere) return;
    if (matchMedia("(pointer: fine)").matches || pathname.split("/").length === 4) composer.focus();
    else element("main", HTMLElement).focus({ preventScroll: true });
  }
}

/** @param {string} href @returns {Promise<boolean>} false if another conversation was opened in the meantime */
async function open(href) {
  const { pathname, search, hash } = new URL(href);
  const number = ++opening;
  const id = CONVERSATION.exec(pathname)?.[1] ?? null;
  history.current = id;
  if (pathname === shown && id) {
    if (hash) location.hash = hash;
    return true;
  }
  if (!id && !search && pathname === base() && document.body.classList.contains("fresh")) {
    // Loading the same page again would replace a question that is sent in the meantime.
    if (location.pathname !== pathname) window.history.pushState(null, "", pathname);
    shown = pathname;
    return true;
  }
  composer.leave();
  const data = await get(`${pathname}page/${search}`);
  if (number !== opening) return false;
  if (!data) {
    location.assign(href); // The server shows the error.
    return false;
  }
  if (location.href !== href) window.history.pushState(null, "", `${pathname}${search}${hash}`);
  shown = pathname;
  reopen(id, data);
  return true;
}

/** @param {string | null} id @param {import("./application.js").PageData} data */
function reopen(id, data) {
  const left = { key: draftKey(), files: session.conversation.id ?? session.begin };
  clearNotices();
  announcer.clear();
  takeData(data);
  session.place = page.place ?? "";
  session.narrative = page.narrative ?? "";
  const begin = beginning(id);
  uploads.open(left.files, id ?? begin, `${base()}files/`, limits());
  const { text, isSent } = session.switchTo(id, begin, page.application ?? "");
  if (text) {
    composer.drafts?.write(left.key, text);
    unconfirmed = isSent ? { key: left.key, text } : null;
  }
  session.conversation.title = history.rows.find(id)?.title ?? "";
  showApplication();
  follower.follow();
  entitle();
  announcer.say(session.conversation.title || gettext("New chat with {title}", { title: page.title ?? "" }));
}

/** @param {MouseEvent} event */
function isPlain(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey && !event.defaultPrevented;
}
