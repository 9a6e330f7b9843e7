// Asks the server what is wrong with the draft, whenever nothing was typed for a moment.

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
      // A newer question overtook this one, or the server cannot be reached: saving will tell.
    }
  }
}
