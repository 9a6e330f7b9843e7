/** A question in the URL of the page: it is written into the message box, and never sent automatically. */

/** In characters; many servers and browsers reject longer URLs anyway. */
const MOST = 8_000;

/**
 * Removes the question from the URL, so that a reload does not insert it again.
 * @param {number} limit characters of a question
 * @returns {{text: string, isCut: boolean} | null}
 */
export function takeAddressQuestion(limit) {
  const address = new URL(location.href);
  const asked = address.searchParams.get("q")?.replaceAll("\0", "").trim();
  if (!asked) return null;
  address.searchParams.delete("q");
  history.replaceState(history.state, "", address);
  const most = Math.min(MOST, limit);
  return { text: asked.slice(0, most).toWellFormed(), isCut: asked.length > most };
}
