/** Stores the choice between answers as a good rating of the picked one, with the names of the others. */

import { noteFeedback } from "./feedback.js";
import { get, postForm } from "../requests.js";
import { gettext } from "../texts.js";

const LONGEST_COMMENT = 2_000;

/** @param {string} message the picked answer @param {string[]} others the names of the other answers @returns {Promise<boolean>} whether the rating was stored */
export async function ratePicked(message, others) {
  if (!document.getElementById("main")?.dataset.feedback || !others.length) return false;
  const told = await get(`/feedback/?message=${message}`);
  const { comment = "", shares_transcript = false } = told?.feedback?.[message] ?? {};
  const note = gettext("Preferred to: {names}", { names: others.join(", ") });
  const fields = {
    rating: "up",
    reason: "",
    comment: (comment.includes(note) ? comment : [comment, note].filter(Boolean).join("\n")).slice(0, LONGEST_COMMENT),
    ...(shares_transcript ? { shares_transcript: "on" } : {}),
  };
  const { status, told: stored } = await postForm(`/messages/${message}/feedback/`, fields);
  if (status !== 200) return false;
  noteFeedback(message, stored.feedback);
  return true;
}
