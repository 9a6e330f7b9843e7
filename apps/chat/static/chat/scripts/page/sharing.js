/** Shares and prints conversations. */

import { drawForPaper, offerPaper } from "../code/paper.js";
import { announcer, detailOf, element, history, log } from "./parts.js";
import { base, session } from "./session.js";
import { go } from "./switching.js";
import { ShareDialog } from "./share-dialog.js";

/** Milliseconds in which a conversation must be opened and drawn before it is printed. */
const PATIENCE = 10_000;
const dialog = element("share-dialog", ShareDialog);

/** Shares the open conversation, or one in the sidebar. */
export function offerSharing() {
  element("share", HTMLButtonElement).addEventListener("click", () => {
    const { id } = session.conversation;
    if (id) void dialog.ask(`${base()}${id}/`);
  });
  history.addEventListener("share", (event) => void dialog.ask(detailOf(event).address));
  history.addEventListener("print", (event) => void printRow(detailOf(event)));
  element("print", HTMLButtonElement).addEventListener("click", () => void printRow(openRow()));
  offerPaper(() => void printRow(openRow()));
  // From the rail of another page.
  if (location.hash === "#print" && session.conversation.id) void printRow(openRow());
  if (location.hash === "#share" && session.conversation.id) void dialog.ask(`${base()}${session.conversation.id}/`);
  dialog.addEventListener("said", (event) => announcer.say(detailOf(event)));
}

/** The open conversation. */
function openRow() {
  return { id: session.conversation.id, address: location.pathname };
}

/** @param {{id: string | null, address: string}} row */
async function printRow({ id, address }) {
  if (session.conversation.id !== id) await go(new URL(address, location.href).href, { takesFocus: false });
  if (session.conversation.id !== id || !(await isDrawn())) return;
  await log.drawAll();
  await drawForPaper();
  print();
}

/** Fetches the missing turns. Returns true if there is something to print. */
async function isDrawn() {
  const end = performance.now() + PATIENCE;
  while (performance.now() < end) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await log.updateComplete;
    const { turns } = session.conversation;
    if (!turns.length || log.turns.length !== turns.length) continue;
    const gap = log.querySelector(".gap button");
    if (!gap || log.problem) return true;
    if (gap instanceof HTMLElement) gap.click();
  }
  return log.turns.length > 0;
}
