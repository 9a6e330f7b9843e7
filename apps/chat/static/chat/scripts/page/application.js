/** The application's parts of the page, at its first load and when another conversation is opened in place. */

import { offerMemorySwitch, showMemory } from "../answer/memory.js";
import { tellMemory } from "./notices.js";
import { composer, element, files, log, page, read, starters as beginnings, tell } from "./parts.js";
import { base, draftKey, session } from "./session.js";
import { offerKeeping, showKeeping } from "./temporary.js";

/**
 * @import { Keeping } from "./temporary.js"
 * @import { Starters } from "../log/starters.js"
 * @typedef {object} PageData
 * @property {Record<string, string>} attributes of the main element
 * @property {Starters} starters
 * @property {boolean | null} memory whether the conversation has it; null without a switch
 * @property {Keeping} keeping the retention of the conversation
 * @property {string | null} place the title of the user's current place
 */

const main = element("main", HTMLElement);
const memorySwitch = element("memory-switch", HTMLButtonElement);
const newChat = element("new-chat", HTMLAnchorElement);
const chip = element("application-chip", HTMLAnchorElement);
const studio = element("edit-application", HTMLAnchorElement);
const placeNotice = element("place-notice", HTMLElement);

offerMemorySwitch(memorySwitch, session, base, tellMemory);
offerKeeping();

/** The data that the server embedded in the page. @returns {PageData} */
export function writtenData() {
  return read("page-data");
}

/** @param {PageData} data */
export function takeData({ attributes, starters, memory, keeping, place }) {
  for (const [name, value] of Object.entries(attributes)) main.setAttribute(`data-${name}`, value);
  log.starters = beginnings.offered = starters;
  showMemory(memorySwitch, session, memory);
  showKeeping(keeping, !page.conversation && !page.ended);
  tell(placeNotice, [place, page.narrative].filter(Boolean).join(": "));
}

/** Shows the application and the open conversation. */
export function showApplication() {
  const { id } = session.conversation;
  const shown = { letters: page.letters ?? "", tile: page.tile ?? "", emoji: page.emoji ?? "", icon: page.icon ?? "" };
  element("application-title", HTMLElement).textContent = page.title ?? "";
  showTile(shown);
  log.greeting = (location.pathname === "/" && page.greeting) || "";
  log.isOnly = page.only === "yes";
  log.heading = page.title ?? "";
  composer.application = id || page.ended ? null : { value: page.application ?? "", title: page.title ?? "" };
  log.description = page.description ?? "";
  log.application = shown;
  log.ended = Boolean(page.ended);
  log.limit = composer.limit = Number(page.textLimit) || Infinity;
  composer.ended = page.ended ?? "";
  composer.openDraft(draftKey());
  studio.href = page.studio ?? "";
  studio.hidden = !page.studio;
  newChat.href = chip.href = page.ended ? "/" : base();
  files.base = base();
  files.conversation = id;
  offerDownload();
  comeBackTo(location.pathname);
}

/** In the chip, as the server drew it for the first application. @param {import("../icons.js").Tile} tile */
function showTile({ letters, tile, emoji, icon }) {
  const drawn = element("application-tile", HTMLElement).querySelector(".monogram");
  if (!(drawn instanceof HTMLElement)) return;
  drawn.dataset.tile = String(tile);
  drawn.toggleAttribute("data-icon", Boolean(icon || emoji));
  drawn.replaceChildren(icon ? Object.assign(new Image(), { src: icon, alt: "" }) : emoji || letters);
}

element("files-button", HTMLButtonElement).addEventListener("click", () => void files.open(element("chat-more", HTMLButtonElement)));

export function offerDownload() {
  const { id } = session.conversation;
  element("share", HTMLButtonElement).hidden = !id || !page.account || session.temporary;
  const link = element("download", HTMLAnchorElement);
  link.hidden = !id;
  element("print", HTMLButtonElement).hidden = !id;
  if (id) link.href = `${base()}${id}/download/`;
  element("files-button", HTMLButtonElement).hidden = !id;
}

/** Makes the sign-in link return to the current page. @param {string} path */
export function comeBackTo(path) {
  for (const link of document.querySelectorAll(".account a[href*='?next=']")) {
    link.setAttribute("href", `${link.getAttribute("href")?.split("?")[0]}?next=${path}`);
  }
}
