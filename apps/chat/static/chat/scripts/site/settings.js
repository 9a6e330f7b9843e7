/** The settings page: choices apply to the page immediately, and are saved in the account or else in this browser. */

import { browserPreferences, keepInBrowser } from "../preferences.js";
import { gettext } from "../texts.js";
import { fill, isSignedIn, savedForms, SavedForm, valuesOf } from "./saving.js";

/** @import { Values } from "./saving.js" */

const LANGUAGE = "language";
const A_YEAR = 365 * 24 * 3600;

/** Maps form fields to attributes of the page. @type {Record<string, string>} */
const NAMES = {
  theme: "theme",
  density: "density",
  text_size: "textSize",
  width: "width",
  send_key: "sendKey",
  has_shortcuts: "shortcuts",
  has_voice: "voice",
  has_spoken_answers: "spoken",
};

document.addEventListener("saved", (event) => apply(/** @type {CustomEvent<Values>} */ (event).detail));

if (!isSignedIn) {
  for (const form of savedForms()) {
    fill(form, browserValues());
    new SavedForm(form, keep, valuesOf(form));
  }
}

/** @param {Values} changed */
function apply(changed) {
  Object.assign(document.documentElement.dataset, looksOf(changed));
  if (changed.theme === "system") delete document.documentElement.dataset.theme;
  if (LANGUAGE in changed) readIn(changed[LANGUAGE]);
}

/** Stores changes in this browser. @param {HTMLFormElement} _form @param {Values} changed */
async function keep(_form, changed) {
  const isKept = keepInBrowser(looksOf(changed));
  if (changed.theme && isKept) localStorage.setItem("theme", changed.theme);
  return { text: isKept ? gettext("Saved in this browser.") : gettext("This setting applies only to this page, because your browser blocks storage.") };
}

/** @param {Values} values @returns {Record<string, string>} */
function looksOf(values) {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (name in NAMES ? [[NAMES[name], value]] : [])));
}

/** The server renders the texts, so the page is fetched again. @param {string} language */
function readIn(language) {
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox before 140 has no CookieStore.
  if (!isSignedIn) document.cookie = `${LANGUAGE}=${language}; path=/; max-age=${language ? A_YEAR : 0}; samesite=lax`;
  location.reload();
}

/** The preferences that this browser stores, by field name. @returns {Values} */
function browserValues() {
  /** @type {Record<string, string>} */
  const kept = { ...browserPreferences(), theme: document.documentElement.dataset.theme ?? "system" };
  return Object.fromEntries(Object.entries(NAMES).flatMap(([name, key]) => (key in kept ? [[name, kept[key]]] : [])));
}
