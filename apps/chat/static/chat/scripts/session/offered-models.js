/** The models that users can choose in the open application. */

/** @typedef {{id: string, title: string, detail?: string}} OfferedModel `detail` is its description */

/** Dispatches `change`. */
class OfferedModels extends EventTarget {
  /** @type {OfferedModel[]} the application's own first; [] for no choice */
  all = [];

  /** @param {OfferedModel[]} all */
  take(all) {
    if (JSON.stringify(all) === JSON.stringify(this.all)) return;
    this.all = all;
    this.dispatchEvent(new CustomEvent("change"));
  }
}

export const offeredModels = new OfferedModels();
