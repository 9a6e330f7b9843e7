/** Stored files of an unsent question, preserved across reloads of the tab. */

/** @import { Attachment } from "../session/frames.js" */
/** @import { Upload } from "./uploads.js" */

export class KeptFiles {
  #key;

  /** @param {string} address the URL of the conversation */
  constructor(address) {
    this.#key = `files of ${address}`;
  }

  /** @param {Upload[]} items the uploads; only stored ones are remembered */
  keep(items) {
    const stored = items.filter(({ state }) => state === "done");
    const written = stored.map(({ name, type, url, isBorrowed }) => ({ title: name, type, url, isBorrowed }));
    try {
      if (written.length) sessionStorage.setItem(this.#key, JSON.stringify(written));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // The browser stores nothing: the files wait as long as the page.
    }
  }

  /** @returns {(Attachment & {isBorrowed?: boolean})[]} */
  read() {
    return JSON.parse(sessionStorage.getItem(this.#key) ?? "[]");
  }
}
