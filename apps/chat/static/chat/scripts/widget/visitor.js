/** The widget's user: a token, because browsers block cookies of frames on other sites. */

/**
 * @typedef {{token: string, expires: number, visitor: string, files?: string}} Visitor `expires` in seconds; `files` is before the paths of files
 * @typedef {{code: string, message: string}} Problem
 */

/** Seconds before its expiry from which a token is no longer used. */
const SPARE = 60;

/** The browser's storage for this site, or memory if storage is refused. */
export class Memory {
  /** @type {Map<string, string>} */
  #kept = new Map();
  #prefix;

  /** @param {string} application @param {string} host */
  constructor(application, host) {
    this.#prefix = `widget ${application} ${host} `;
  }

  /** @param {string} name */
  read(name) {
    try {
      return localStorage.getItem(this.#prefix + name) ?? this.#kept.get(name) ?? "";
    } catch {
      return this.#kept.get(name) ?? "";
    }
  }

  /** @param {string} name @param {string} text "" forgets it */
  write(name, text) {
    this.#kept.set(name, text);
    try {
      if (text) localStorage.setItem(this.#prefix + name, text);
      else localStorage.removeItem(this.#prefix + name);
    } catch {
      // The browser stores nothing: the value lasts as long as the page.
    }
  }
}

/** @param {Memory} memory @returns {Visitor | null} the visitor of this browser, whose token is still valid */
export function knownVisitor(memory) {
  try {
    const known = JSON.parse(memory.read("visitor") || "null");
    return known?.expires > Date.now() / 1000 + SPARE ? known : null;
  } catch {
    return null;
  }
}

/**
 * Ask the server for a token.
 * @param {string} address @param {string} host
 * @param {{identity?: string, code?: string}} [proof] an identity that the site has signed, or the code of a sign-in
 * @returns {Promise<{visitor: Visitor, problem?: undefined} | {problem: Problem, visitor?: undefined}>}
 */
export async function newVisitor(address, host, proof = {}) {
  try {
    const body = JSON.stringify({ host, ...proof });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(address, { method: "POST", credentials: "omit", headers, body });
    const told = await response.json();
    return response.ok ? { visitor: told } : { problem: told.error };
  } catch {
    return { problem: { code: "not_reachable", message: "" } };
  }
}
