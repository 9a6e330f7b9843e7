/** The actions of the sidebar's menus. */

import { get, post } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @import { Folder, HistoryRows, Row } from "./rows.js"
 * @typedef {{rows: Row[], text: string, isDeletion: boolean, undo: () => Promise<string>}} Undoable `undo` returns the error, or ""
 * @typedef {{said?: string, problem?: string, id?: string, undoable?: Undoable, leaves?: "share" | "print", asks?: import("./dialog.js").Asked}} Outcome
 *   `said` is announced to screen readers, `id` is the conversation that keeps the focus, `asks` opens a dialog, and the page `leaves` with the conversation what is asked for
 */

/** @param {HistoryRows} rows @param {string} name of the item @param {Row} row @returns {Promise<Outcome>} */
export async function actOnRow(rows, name, row) {
  switch (name) {
    case "rename":
      return { asks: { kind: name, row } };
    case "move":
      return { asks: { kind: name, rows: [row] } };
    case "share":
    case "print":
      return { leaves: name };
    case "go-on": {
      const found = await get(`${row.address}go-on/`);
      if (!found) return { problem: gettext("Couldn’t load your apps. Check your connection and try again.") };
      if (!found.applications.length) return { problem: gettext("No other app is available to you.") };
      return { asks: { kind: name, row, applications: found.applications } };
    }
    case "pin":
      return arrange(rows, row, { pinned: String(!row.pinned) }, row.pinned ? gettext("Conversation unpinned.") : gettext("Conversation pinned."));
    case "archive":
      return arrange(rows, row, { archived: "true" }, gettext("Conversation archived."));
    case "unarchive":
      return arrange(rows, row, { archived: "false" }, gettext("Conversation restored from the archive."));
    case "delete":
      return remove(rows, row);
    default:
      return {};
  }
}

/** @param {HistoryRows} rows @param {string} name of the item @param {Folder} folder @returns {Promise<Outcome>} */
export async function actOnFolder(rows, name, folder) {
  if (name === "rename-folder") return { asks: { kind: name, folder } };
  if (name === "delete-folder") {
    const { problem } = await rows.changeFolders(`${folder.id}/delete/`, {});
    if (problem) return { problem };
    await rows.refresh(); // Its conversations are in the main list now.
    return { said: gettext("Folder deleted. Its conversations were kept.") };
  }
  const at = rows.folders.findIndex(({ id }) => id === folder.id);
  const before = rows.folders[at + (name === "folder-up" ? -1 : 2)];
  const { problem } = await rows.changeFolders(`${folder.id}/`, { before: before ? String(before.id) : "" });
  return problem ? { problem } : { said: gettext("Folder moved.") };
}

/** Moves a dropped conversation into a folder. @param {HistoryRows} rows @param {Row} row @param {Folder | null} folder @returns {Promise<Outcome>} */
export async function drop(rows, row, folder) {
  const fields = { folder: folder ? String(folder.id) : "", ...(row.pinned ? { pinned: "false" } : {}) };
  return arrange(rows, row, fields, folder ? gettext("Conversation moved.") : gettext("Conversation removed from its folder."));
}

/** @param {HistoryRows} rows @param {Row} row @param {Parameters<HistoryRows["arrange"]>[1]} fields @param {string} said @returns {Promise<Outcome>} */
async function arrange(rows, row, fields, said) {
  const problem = await rows.arrange(row, fields);
  return problem ? { problem } : { said, id: row.id };
}

/** @param {HistoryRows} rows @param {Row} row @returns {Promise<Outcome>} */
async function remove(rows, row) {
  if (!(await post(`${row.address}delete/`, {}))) {
    return { problem: gettext("The conversation was not deleted. Check your connection and try again.") };
  }
  rows.remove(row.id);
  return { undoable: { rows: [row], text: gettext("Conversation deleted."), isDeletion: true, undo: () => rows.restore(row) } };
}
