/**
 * Unsent drafts. For signed-in users, they stay in the browser under the account; for visitors, they end with the tab.
 */

const PREFIX = "draft ";
const MOST_CHARACTERS = 100_000;
const MOST = 50;

export class Drafts {
  #account;

  /** @param {string} account "" for a visitor */
  constructor(account) {
    this.#account = account;
    forgetDrafts((key) => !account || !key.startsWith(this.#key("")));
  }

  /** @param {string} address the URL of the conversation */
  read(address) {
    return attempt(() => this.#store.getItem(this.#key(address))) ?? "";
  }

  /** @param {string} address @param {string} text "" deletes it; a draft that is too long for the storage stays in its tab */
  write(address, text) {
    const key = this.#key(address);
    attempt(() => {
      this.#store.removeItem(key); // Written again to become the newest.
      if (!text || text.length > MOST_CHARACTERS) return;
      const known = keys(this.#store);
      for (const old of known.slice(0, known.length - MOST + 1)) this.#store.removeItem(old);
      this.#store.setItem(key, text);
    });
  }

  get #store() {
    return this.#account ? localStorage : sessionStorage;
  }

  /** @param {string} address */
  #key(address) {
    return `${PREFIX}${this.#account} ${address}`;
  }
}

/** Drafts of other users are removed from this browser. @param {(key: string) => boolean} [isForgotten] */
export function forgetDrafts(isForgotten = () => true) {
  attempt(() => {
    for (const key of keys(localStorage).filter(isForgotten)) localStorage.removeItem(key);
  });
}

/** @param {Storage} store */
function keys(store) {
  return Object.keys(store).filter((key) => key.startsWith(PREFIX));
}

/** A browser may refuse storage. @template T @param {() => T} work @returns {T | undefined} */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
