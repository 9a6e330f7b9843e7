/** Unconfirmed questions survive a reload of their tab. If they are sent again, each counts once. */

/**
 * @import { Asked, Session } from "./session.js"
 * @typedef {{account: string, place: string, at: number, questions: Asked[]}} Kept
 */

const KEY = "unsent questions";
/** Milliseconds after which a question returns to the message box instead of being sent again. */
const FRESH = 600_000;

/**
 * Send unconfirmed questions from before the reload again, and store new ones.
 * @param {Session} session before it is connected @param {string} account @param {() => string} place the key of the conversation
 * @returns {string} the text of a question that is too old to be sent automatically
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
    // The browser refuses storage, or has no space. The question is sent anyway.
  }
}
