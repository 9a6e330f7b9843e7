/** A question that the address of the page brings: it is written into the box, and never sent by itself. */

/** Characters; longer addresses are refused by many servers and browsers anyway. */
const MOST = 8_000;

/**
 * Take the question out of the address, so that a reload does not bring it again.
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
