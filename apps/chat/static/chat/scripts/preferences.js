/** The user's preferences: attributes of the page, from the account or from this browser. */

const KEY = "preferences";

/** @param {"sendKey" | "shortcuts" | "voice" | "spoken"} name @returns {string} "" without a choice */
export function preference(name) {
  return document.documentElement.dataset[name] ?? "";
}

/** True if Enter alone sends; else Ctrl + Enter does. */
export function sendsWithEnter() {
  return preference("sendKey") !== "ctrl-enter";
}

/** True if a key sends the message, according to the user's preference. @param {KeyboardEvent} event */
export function isSendKey(event) {
  // During text composition, Enter selects characters (229: Safari ends the composition first).
  if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing || event.keyCode === 229) return false;
  return sendsWithEnter() || event.ctrlKey || event.metaKey;
}

export function hasShortcuts() {
  return preference("shortcuts") !== "off";
}

/** The preferences of a browser whose user is not signed in. @returns {Record<string, string>} */
export function browserPreferences() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {}; // Storage is refused, or contains other data.
  }
}

/** @param {Record<string, string>} chosen by the names in `dataset` @returns {boolean} true if they are stored */
export function keepInBrowser(chosen) {
  Object.assign(document.documentElement.dataset, chosen);
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...browserPreferences(), ...chosen }));
    return true;
  } catch {
    return false;
  }
}
