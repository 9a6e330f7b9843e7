/** Questions that the server has not confirmed outlive a reload of their tab. Sent again, each counts once. */

/**
 * @import { Asked, Session } from "./session.js"
 * @typedef {{account: string, place: string, at: number, questions: Asked[]}} Kept
 */

const KEY = "unsent questions";
/** Milliseconds after which a question comes back into the box, and is not asked by itself. */
const FRESH = 600_000;

/**
 * Ask again what was on its way when the page was left, and keep what is from now on.
 * @param {Session} session before it is connected @param {string} account @param {() => string} place the key of the conversation
 * @returns {string} what was asked too long ago to be asked by itself
 */
export function keepUnsent(session, account, place) {
  const kept = read();
  const own = kept?.account === account && kept.place === place() ? kept.questions : [];
  const isFresh = kept !== null && Date.now() - kept.at < FRESH;
  if (own.length && isFresh) session.askAgain(own);
  let written = own.map(({ id }) => id).join();
  if (!isFresh || !own.length) sessionStorage.removeItem(KEY);
  session.addEventListener("change", () => {
    const { unsent } = session;
    const ids = unsent.map(({ id }) => id).join();
    if (ids === written) return;
    written = ids;
    if (ids) write({ account, place: place(), at: Date.now(), questions: unsent });
    else sessionStorage.removeItem(KEY);
  });
  return isFresh ? "" : own.map(({ text }) => text).join("\n\n");
}

/** @returns {Kept | null} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

/** @param {Kept} kept */
function write(kept) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // The browser keeps nothing, or not as much; the question is on its way nevertheless.
  }
}
