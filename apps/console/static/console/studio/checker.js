// Checks the draft on the server after each pause in typing.

/**
 * @import { Store } from "./store.js"
 */

export class Checker {
  /** @type {AbortController | undefined} */
  asked;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    store.subscribe((what) => {
      if (what === "settled" || what === "stored") this.check();
    });
  }

  async check() {
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const response = await this.store.send("check", this.store.current, this.asked.signal);
      if (response.ok) this.store.found((await response.json()).findings);
    } catch {
      // A newer check has started, or the server is unreachable, which saving will report.
    }
  }
}
