/** The sidebar on other pages: the same list, but a link opens another page. And the fields of their forms. */

import { offerChoiceFields } from "../choice-fields.js";
import { offerCollapsing } from "./collapse.js";
import { ChatHistory } from "./history.js";
import { offerSwipes } from "./sidebar-swipe.js";
import { ChatToast } from "../notices/toast.js";
import "../site/sections.js";
import { gettext } from "../texts.js";

/** @import { Undoable } from "./actions.js" */

/** Milliseconds after which a page that becomes visible fetches the list. */
const FRESH = 30_000;
const history = document.getElementById("history");
const toast = document.getElementById("toast");
const said = document.getElementById("said");
let fetchedAt = performance.now();

offerChoiceFields();
offerCollapsing();
const sidebar = document.getElementById("sidebar");
const menu = document.getElementById("menu");
if (sidebar && menu) offerSwipes(sidebar, menu);
if (history instanceof ChatHistory && toast instanceof ChatToast) offerHistory(history, toast);

/** @param {ChatHistory} history @param {ChatToast} toast */
function offerHistory(history, toast) {
  history.rows.begin(JSON.parse(document.getElementById("rail-data")?.textContent ?? ""));
  history.addEventListener("said", (event) => say(detailOf(event)));
  history.addEventListener("share", (event) => location.assign(`${detailOf(event).address}#share`));
  history.addEventListener("print", (event) => location.assign(`${detailOf(event).address}#print`));
  history.addEventListener("undoable", (event) => offerUndo(toast, detailOf(event)));
  toast.addEventListener("left", () => document.getElementById("new-chat")?.focus());
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || performance.now() - fetchedAt < FRESH) return;
    fetchedAt = performance.now();
    void history.rows.refresh();
  });
}

/** @param {ChatToast} toast @param {Undoable} done */
function offerUndo(toast, { text, undo }) {
  say(`${text} ${gettext("You can undo this.")}`);
  void toast.show(text, async () => say((await undo()) || gettext("Undone.")));
}

/** @param {string} text */
function say(text) {
  if (said) said.textContent = text;
}

/** @param {Event} event @returns {any} */
function detailOf(event) {
  return /** @type {CustomEvent} */ (event).detail;
}
