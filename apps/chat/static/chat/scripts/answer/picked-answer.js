/** Stores the choice between answers as a good rating of the picked one, with the names of the others. */

import { get, postForm } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @import { Feedback } from "./feedback.js"
 * @typedef {(message: string, given: Feedback) => void} Note
 */

const LONGEST_COMMENT = 2_000;

/** @param {string} message the picked answer @param {string[]} others the names of the other answers @param {Note} note @returns {Promise<boolean>} whether the rating was stored */
export async function ratePicked(message, others, note) {
  if (!document.getElementById("main")?.dataset.feedback || !others.length) return false;
  const told = await get(`/feedback/?message=${message}`);
  const { comment = "", shares_transcript = false } = told?.feedback?.[message] ?? {};
  const words = gettext("Preferred to: {names}", { names: others.join(", ") });
  const fields = {
    rating: "up",
    reason: "",
    comment: (comment.includes(words) ? comment : [comment, words].filter(Boolean).join("\n")).slice(0, LONGEST_COMMENT),
    ...(shares_transcript ? { shares_transcript: "on" } : {}),
  };
  const { status, told: stored } = await postForm(`/messages/${message}/feedback/`, fields);
  if (status !== 200) return false;
  note(message, stored.feedback);
  return true;
}
