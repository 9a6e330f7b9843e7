/** What the person prefers: attributes of the page, from their account or from this browser. */

const KEY = "preferences";

/** @param {"sendKey" | "shortcuts" | "voice" | "spoken"} name @returns {string} "" where nothing was chosen */
export function preference(name) {
  return document.documentElement.dataset[name] ?? "";
}

/** Whether Enter alone sends; else Ctrl + Enter does. */
export function sendsWithEnter() {
  return preference("sendKey") !== "ctrl-enter";
}

/** Whether a key sends what is being written, as the person chose. @param {KeyboardEvent} event */
export function isSendKey(event) {
  // While a word is being composed, Enter chooses its characters (229: Safari ends that first).
  if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing || event.keyCode === 229) return false;
  return sendsWithEnter() || event.ctrlKey || event.metaKey;
}

export function hasShortcuts() {
  return preference("shortcuts") !== "off";
}

/** Of a browser whose person is not signed in. @returns {Record<string, string>} */
export function browserPreferences() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {}; // storage is refused, or was written by something else
  }
}

/** @param {Record<string, string>} chosen by the names in `dataset` @returns {boolean} whether they are kept */
export function keepInBrowser(chosen) {
  Object.assign(document.documentElement.dataset, chosen);
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...browserPreferences(), ...chosen }));
    return true;
  } catch {
    return false;
  }
}
