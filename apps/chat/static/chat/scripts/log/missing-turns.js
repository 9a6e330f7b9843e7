/** Fetches missing turns when the user scrolls to them, or jumps to a message in them. */

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
 * @param {() => string} base the URL of the application
 */
export function offerMissingTurns(log, session, follower, base) {
  let loading = false;
  /** The message whose branch was last requested. */
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
    log.turns = [...session.conversation.turns]; // Set immediately, because the page draws only in the next frame.
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

  /** The same message can be opened again. */
  const forget = () => history.replaceState(null, "", location.pathname + location.search);

  /** The message is on a hidden branch. @param {string} message */
  const showBranch = (message) => {
    if (switched === message) return; // It does not exist.
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
    follower.rest(); // The reader may have reached the end in the meantime.
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
