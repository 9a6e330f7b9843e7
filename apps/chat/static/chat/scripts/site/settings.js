/** The settings page: each choice is saved immediately, in the account or else in this browser, and can be undone. */

import { browserPreferences, keepInBrowser } from "../preferences.js";
import { csrfToken } from "../requests.js";
import { gettext } from "../texts.js";

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

/** @import { ChatToast } from "../notices/toast.js" */
/** @typedef {HTMLInputElement | HTMLSelectElement} Field */
/** @typedef {Record<string, string>} Values of the fields by their names; boxes are "on" or "off" */

const isSignedIn = Boolean(document.getElementById("main")?.dataset.account);
// The page's frame has defined it.
const toast = /** @type {ChatToast | null} */ (document.getElementById("toast"));
const said = document.getElementById("said");

for (const form of document.querySelectorAll("form[data-saves]")) if (form instanceof HTMLFormElement) wire(form);

/** @param {HTMLFormElement} form */
function wire(form) {
  if (!isSignedIn) fill(form, ofBrowser(form));
  for (const button of form.querySelectorAll(".form-actions")) button.toggleAttribute("hidden", true);
  let before = valuesOf(form);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", async () => {
    const earlier = before;
    before = valuesOf(form);
    const words = await save(form, earlier);
    if (words) {
      tell(words, async () => {
        fill(form, earlier);
        before = earlier;
        await save(form, earlier);
      });
      return;
    }
    fill(form, earlier);
    before = earlier;
    if (said) said.textContent = gettext("That didn’t work. Check your connection and try again.");
  });
}

/** @param {string} words @param {() => Promise<void>} undo */
function tell(words, undo) {
  if (said) said.textContent = words;
  void toast?.show(words, () => void undo(), { takesFocus: false });
}

/** @param {HTMLFormElement} form @param {Values} earlier @returns {Promise<string>} the announcement, or "" if it failed */
async function save(form, earlier) {
  const chosen = valuesOf(form);
  if (isSignedIn && !(await send(form))) return "";
  const looks = Object.fromEntries(Object.entries(chosen).flatMap(([name, value]) => (name in NAMES ? [[NAMES[name], value]] : [])));
  const isKept = isSignedIn || keepInBrowser(looks);
  Object.assign(document.documentElement.dataset, looks);
  if (looks.theme === "system") delete document.documentElement.dataset.theme;
  if (looks.theme && !isSignedIn) localStorage.setItem("theme", looks.theme);
  if (LANGUAGE in chosen && chosen[LANGUAGE] !== earlier[LANGUAGE]) readIn(chosen[LANGUAGE]);
  if (isSignedIn) return gettext("Saved.");
  return isKept ? gettext("Saved in this browser.") : gettext("This setting applies only to this page, because your browser blocks storage.");
}

/** @param {HTMLFormElement} form @returns {Promise<boolean>} */
async function send(form) {
  const headers = { Accept: "application/json", "X-CSRFToken": csrfToken() };
  try {
    return (await fetch(form.action, { method: "POST", body: new FormData(form), headers })).ok;
  } catch {
    return false;
  }
}

/** The server renders the texts, so the page is fetched again. @param {string} language */
function readIn(language) {
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox before 140 has no CookieStore.
  if (!isSignedIn) document.cookie = `${LANGUAGE}=${language}; path=/; max-age=${language ? A_YEAR : 0}; samesite=lax`;
  location.reload();
}

/** The preferences that this browser stores, by field name. @param {HTMLFormElement} form @returns {Values} */
function ofBrowser(form) {
  /** @type {Record<string, string>} */
  const kept = { ...browserPreferences(), theme: document.documentElement.dataset.theme ?? "system" };
  return Object.fromEntries(Object.entries(valuesOf(form)).map(([name, value]) => [name, kept[NAMES[name]] ?? value]));
}

/** @param {HTMLFormElement} form @param {Values} values */
function fill(form, values) {
  for (const field of fieldsOf(form)) {
    const value = values[field.name];
    if (field.type === "radio") /** @type {HTMLInputElement} */ (field).checked = field.value === value;
    else if (field.type === "checkbox") /** @type {HTMLInputElement} */ (field).checked = value === "on";
    else field.value = value;
  }
}

/** @param {HTMLFormElement} form @returns {Values} */
function valuesOf(form) {
  /** @type {Values} */
  const found = {};
  for (const field of fieldsOf(form)) {
    const isChecked = field instanceof HTMLInputElement && field.checked;
    if (field.type === "checkbox") found[field.name] = isChecked ? "on" : "off";
    else if (field.type !== "radio" || isChecked) found[field.name] = field.value;
  }
  return found;
}

/** @param {HTMLFormElement} form @returns {Field[]} */
function fieldsOf(form) {
  const all = /** @type {Field[]} */ ([...form.elements]);
  return all.filter(({ name }) => name in NAMES || name === LANGUAGE);
}
