/** Reads text aloud with the browser's voices, one text at a time. */

/** @type {(() => void) | null} notifies the current reader that reading has ended */
let end = null;

export const canSpeak = "speechSynthesis" in window;

/** @param {string} text @param {() => void} ended */
export function speak(text, ended) {
  hush();
  const words = new SpeechSynthesisUtterance(text);
  words.lang = languageOf(text);
  words.onend = words.onerror = () => {
    if (end !== ended) return;
    end = null;
    ended();
  };
  end = ended;
  speechSynthesis.speak(words);
}

export function hush() {
  const ended = end;
  end = null;
  speechSynthesis.cancel();
  ended?.();
}

/** Scripts that a page in another language does not determine. @type {[RegExp, string][]} */
const SCRIPTS = [
  [/[\u0590-\u05ff]/, "he"],
  [/[\u0600-\u06ff]/, "ar"],
  [/[\u0400-\u04ff]/, "ru"],
  [/[\u0370-\u03ff]/, "el"],
  [/[\u3040-\u30ff]/, "ja"],
  [/[\uac00-\ud7af]/, "ko"],
  [/[\u4e00-\u9fff]/, "zh"],
];

/** @param {string} text */
function languageOf(text) {
  const beginning = text.slice(0, 400);
  const found = SCRIPTS.find(([script]) => script.test(beginning));
  return found?.[1] ?? document.documentElement.lang ?? "";
}
