/** Dictation with the browser's speech recognition, if available. */

import { gettext } from "../texts.js";

/** @type {Record<string, string>} by the browser's names */
const PROBLEMS = {
  "not-allowed": gettext("The microphone is blocked. Allow it for this site in your browser."),
  "service-not-allowed": gettext("Your browser doesn’t support transcription."),
  "audio-capture": gettext("No microphone was found. Connect a microphone and try again."),
  network: gettext("The transcription service can’t be reached. Try again later."),
  "no-speech": gettext("No speech was detected. Try again."),
  "language-not-supported": gettext("Your browser can’t transcribe this language."),
};

/**
 * @typedef {object} Recognition the used part of the browser's SpeechRecognition
 * @property {boolean} continuous
 * @property {boolean} interimResults
 * @property {string} lang
 * @property {((event: {results: ArrayLike<ArrayLike<{transcript: string}>>}) => void) | null} onresult
 * @property {((event: {error: string}) => void) | null} onerror
 * @property {(() => void) | null} onend
 * @property {() => void} start
 * @property {() => void} stop
 * @property {() => void} abort
 */

/** @returns {(new () => Recognition) | undefined} */
function recognizer() {
  const found = /** @type {any} */ (window);
  return found.SpeechRecognition ?? found.webkitSpeechRecognition;
}

export function canDictate() {
  return recognizer() !== undefined;
}

export class Dictation {
  /** @type {Recognition | null} */
  #going = null;
  #told;

  /** @param {{text: (said: string) => void, problem: (words: string) => void, change: () => void}} told */
  constructor(told) {
    this.#told = told;
  }

  get isGoing() {
    return this.#going !== null;
  }

  start() {
    const Kind = recognizer();
    if (!Kind || this.#going) return;
    const going = new Kind();
    Object.assign(going, { continuous: true, interimResults: true, lang: navigator.language });
    going.onresult = ({ results }) => {
      if (this.#going === going) this.#told.text(Array.from(results, (one) => one[0].transcript).join(""));
    };
    going.onerror = ({ error }) => {
      if (error !== "aborted") this.#told.problem(PROBLEMS[error] ?? gettext("Transcription failed. Try again."));
    };
    going.onend = () => {
      if (this.#going === going) this.#end();
    };
    this.#going = going;
    going.start();
    this.#told.change();
  }

  /** The last words are still transcribed. */
  stop() {
    this.#going?.stop();
  }

  /** Nothing more is transcribed. */
  abort() {
    const going = this.#going;
    if (!going) return;
    this.#end();
    going.abort();
  }

  #end() {
    this.#going = null;
    this.#told.change();
  }
}
