// Asks the server what is wrong with the draft, whenever nothing was typed for a moment.

export class Checker {
  constructor(store) {
    this.store = store;
    store.subscribe((what) => {
      if (["settled", "stored", "replaced"].includes(what)) this.check();
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
