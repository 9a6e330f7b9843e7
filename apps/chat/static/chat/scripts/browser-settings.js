/** The page of settings for people who are not signed in: this browser keeps what they choose. */

import { browserPreferences, keepInBrowser } from "./preferences.js";
import { gettext } from "./texts.js";

const LANGUAGE = "language";
const A_YEAR = 365 * 24 * 3600;

/** By the fields of the forms. @type {Record<string, string>} */
const NAMES = {
  theme: "theme",
  density: "density",
  text_size: "textSize",
  send_key: "sendKey",
  has_shortcuts: "shortcuts",
  has_voice: "voice",
  has_spoken_answers: "spoken",
};

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

const said = document.getElementById("kept-here");

for (const form of document.querySelectorAll("form.account-form")) {
  if (!(form instanceof HTMLFormElement)) continue;
  fill(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep(form);
  });
}

/** @param {HTMLFormElement} form */
function fill(form) {
  const kept = { ...browserPreferences(), theme: document.documentElement.dataset.theme ?? "system" };
  for (const field of fieldsOf(form)) {
    const value = /** @type {Record<string, string>} */ (kept)[NAMES[field.name]];
    if (value === undefined) continue;
    if (isBox(field)) field.checked = value === "on";
    else field.value = value;
  }
}

/** @param {HTMLFormElement} form */
function keep(form) {
  const chosen = Object.fromEntries(fieldsOf(form).map((field) => [NAMES[field.name], valueOf(field)]));
  const isKept = keepInBrowser(chosen);
  if (chosen.theme) localStorage.setItem("theme", chosen.theme);
  const language = form.elements.namedItem(LANGUAGE);
  if (language instanceof HTMLSelectElement && keepLanguage(language)) return;
  const words = said?.querySelector("span");
  if (!said || !words) return;
  said.hidden = false;
  words.textContent = isKept ? gettext("Saved in this browser.") : gettext("It holds for this page: the browser keeps nothing.");
}

/** In a cookie, as the server writes the texts. @param {HTMLSelectElement} field @returns {boolean} whether the page is fetched in another language */
function keepLanguage({ value, options }) {
  if ([...options].find(({ defaultSelected }) => defaultSelected)?.value === value) return false;
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox before 140 has no CookieStore.
  document.cookie = `${LANGUAGE}=${value}; path=/; max-age=${value ? A_YEAR : 0}; samesite=lax`;
  location.reload();
  return true;
}

/** @param {HTMLFormElement} form @returns {Field[]} */
function fieldsOf(form) {
  const all = /** @type {Field[]} */ ([...form.elements]);
  return all.filter(({ name }) => name in NAMES);
}

/** @param {Field} field */
function valueOf(field) {
  if (isBox(field)) return field.checked ? "on" : "off";
  return field.value;
}

/** @param {Field} field @returns {field is HTMLInputElement} */
function isBox(field) {
  return field instanceof HTMLInputElement && field.type === "checkbox";
}
