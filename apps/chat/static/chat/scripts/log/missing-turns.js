/** Turns that are not loaded are fetched when the person comes to them, or looks for a message in them. */

import { afterPainting } from "../painting.js";
import { get } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @import { ChatAnswer } from "../answer/answer.js"
 * @import { Follower } from "./follower.js"
 * @import { WholeTurn } from "../session/frames.js"
 * @import { ChatLog } from "./log.js"
 * @import { Missing } from "./shown-turns.js"
 * @import { Session } from "../session/session.js"
 */

const NOT_LOADED = gettext("These messages could not be loaded. Try again.");
const MESSAGE = /^#message-([\da-f-]{36})$/i;

/**
 * @param {ChatLog} log @param {Session} session @param {Follower} follower
 * @param {() => string} base the address of the application
 */
export function offerMissingTurns(log, session, follower, base) {
  let loading = false;
  /** The message whose branch was asked for last. */
  let switched = "";

  /** @param {Record<string, string>} wanted @returns {Promise<WholeTurn[] | null>} */
  const fetchTurns = async (wanted) => {
    const { id } = session.conversation;
    const found = await get(`${base()}${id}/turns/?${new URLSearchParams(wanted)}`);
    return id === session.conversation.id ? (found?.turns ?? null) : null;
  };

  /** @param {WholeTurn[]} turns */
  const insert = (turns) => {
    session.insert(turns);
    log.turns = [...session.conversation.turns]; // at once: the page draws only with its next frame
  };

  /** @param {Missing} missing */
  const fill = async (missing) => {
    if (loading) return;
    loading = true;
    const turns = await fetchTurns(missing);
    loading = false;
    const hadFocus = document.activeElement?.closest(".gap");
    log.problem = turns ? "" : NOT_LOADED;
    if (!turns) return;
    await log.keepPlace(() => insert(turns));
    if (hadFocus && !hadFocus.isConnected) document.getElementById("main")?.focus({ preventScroll: true });
  };

  /** Going to the same message again is possible. */
  const forget = () => history.replaceState(null, "", location.pathname + location.search);

  /** The message stands on a branch that is not shown. @param {string} message */
  const showBranch = (message) => {
    if (switched === message) return; // it is nowhere
    switched = message;
    session.addEventListener("reopened", () => afterPainting(() => void reveal()), { once: true });
    session.changeBranches("branch.switch", message);
  };

  const reveal = async () => {
    const message = MESSAGE.exec(location.hash)?.[1].toLowerCase();
    if (!message || !session.loaded) return;
    follower.rest();
    if (await log.reveal(message)) return forget();
    const turns = await fetchTurns({ message });
    if (!turns) return showBranch(message);
    insert(turns);
    follower.rest(); // the end may have been come to meanwhile
    if (await log.reveal(message)) forget();
    switched = "";
  };

  log.addEventListener("gap", (event) => void fill(/** @type {CustomEvent<Missing>} */ (event).detail));
  log.addEventListener("step-rest", async (event) => {
    const { target, detail } = /** @type {CustomEvent<string>} */ (event);
    const shown = /** @type {ChatAnswer | null} */ (/** @type {HTMLElement} */ (target).closest("chat-answer"));
    const run = shown?.answer?.id;
    const [turn] = (run && (await fetchTurns({ run }))) || [];
    if (turn) session.completeStep(turn, detail);
  });
  addEventListener("hashchange", () => void reveal());

  let isDue = MESSAGE.test(location.hash);
  session.addEventListener("switched", () => (isDue = MESSAGE.test(location.hash)));
  session.addEventListener("change", () => {
    if (!isDue || !session.loaded) return;
    isDue = false;
    afterPainting(() => void reveal());
  });
}
