/** The conversations of the sidebar, fetched page by page and updated by the server. */

import { sectionsOf } from "./sections.js";
import { get, post, postForm } from "../requests.js";
import { gettext } from "../texts.js";

/**
 * @typedef {"running" | "waiting" | "unread" | "done"} State
 * @typedef {import("../icons.js").Tile & {title: string, ended: boolean}} Application
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} title
 * @property {string} updated_at
 * @property {State} state
 * @property {string} address
 * @property {Application} application
 * @property {number | null} folder
 * @property {boolean} pinned
 * @property {boolean} archived
 * @property {string[]} tags
 *
 * @typedef {Pick<Row, "id" | "title" | "address">} Named a conversation that the list may not have got to
 *
 * @typedef {{id: number, name: string, collapsed: boolean}} Folder
 * @typedef {{conversations: Row[], next: string, folders: Folder[]}} FirstPage
 * @typedef {import("../session/frames.js").ListChanged} News
 * @typedef {import("./sections.js").Section} Section
 */

const FAILED = gettext("That didn’t work. Check your connection and try again.");
const MAIN = "main";
const ARCHIVED = "archived";

/** Dispatches `change`. */
export class HistoryRows extends EventTarget {
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {Folder[]} */
  folders = [];
  /** @type {Map<string, string>} the `after` of the next page of each list, "" after the last one */
  #next = new Map();
  /** @type {Set<string>} lists that are being fetched */
  #fetching = new Set();
  /** @type {Section[]} */
  #sections = [];

  /** @param {FirstPage} page */
  begin({ conversations, next, folders }) {
    this.#rows = new Map(conversations.map((row) => [row.id, row]));
    this.folders = folders;
    this.#next = new Map([[MAIN, next]]);
    this.#changed();
  }

  /** @returns {Row[]} */
  get all() {
    return [...this.#rows.values()];
  }

  get sections() {
    return this.#sections;
  }

  /** @returns {Row[]} the archived ones, the newest first */
  get archived() {
    return this.all.filter(({ archived }) => archived).toSorted(byTime);
  }

  /** @param {string | null} id @returns {Row | undefined} */
  find(id) {
    return this.#rows.get(id ?? "");
  }

  /** Returns true if there is more of a list. @param {string} list "main", "archived" or the id of a folder */
  hasMore(list) {
    return this.#next.get(list) !== "";
  }

  /** Fetch the next page of a list. @param {string} list */
  async more(list) {
    const after = this.#next.get(list);
    if (after === "" || this.#fetching.has(list)) return;
    this.#fetching.add(list);
    const page = await get(`/conversations/?${new URLSearchParams({ ...partOf(list), after: after ?? "" })}`);
    this.#fetching.delete(list);
    if (!page) return;
    for (const row of page.conversations) this.#rows.set(row.id, row);
    this.#next.set(list, page.next);
    this.#changed();
  }

  /** Fetch the list again, because updates may have been missed. */
  async refresh() {
    const page = await get("/conversations/");
    if (page) this.begin(page);
  }

  /** @param {News} news */
  take({ conversations, deleted, is_whole }) {
    if (!is_whole) void this.refresh();
    for (const row of conversations) this.#rows.set(row.id, row);
    for (const id of deleted) this.#rows.delete(id);
    this.#changed();
  }

  /** @param {Folder[]} folders */
  takeFolders(folders) {
    this.folders = folders;
    this.#changed();
  }

  /** @param {Row} row */
  put(row) {
    this.#rows.set(row.id, row);
    this.#changed();
  }

  /** @param {string} id */
  remove(id) {
    if (this.#rows.delete(id)) this.#changed();
  }

  /**
   * Pin, archive, move or tag a conversation.
   * @param {Row} row @param {Record<string, string>} fields
   * @returns {Promise<string>} the error, or ""
   */
  async arrange(row, fields) {
    const { status, told } = await postForm(`${row.address}arrange/`, fields);
    if (status !== 200) return wordsOf(told);
    this.put(told.conversation);
    return "";
  }

  /**
   * Archive, move, tag, delete or restore several conversations.
   * @param {Row[]} rows @param {Record<string, string>} fields @returns {Promise<string>} the error, or ""
   */
  async changeAll(rows, fields) {
    const conversations = rows.map(({ id }) => id).join();
    const { status, told } = await postForm("/conversations/selected/", { conversations, ...fields });
    if (status !== 200) return wordsOf(told);
    this.take({ type: "list.changed", conversations: told.conversations, deleted: fields.deleted === "true" ? told.changed : [], is_whole: true });
    return "";
  }

  /** Let another application answer, starting with the next question. @param {Row} row @param {string} application @returns {Promise<string>} the error, or "" */
  async goOn(row, application) {
    const { status, told } = await postForm(`${row.address}go-on/`, { application });
    if (status !== 200) return wordsOf(told);
    this.put(told.conversation);
    return "";
  }

  /** @param {Named} row @param {string} title @returns {Promise<string>} the error, or "" */
  async rename(row, title) {
    if (!(await post(`${row.address}rename/`, { title }))) return FAILED;
    const known = this.#rows.get(row.id);
    if (known) this.put({ ...known, title });
    return "";
  }

  /** Restore a deleted conversation. @param {Row} row @returns {Promise<string>} the error, or "" */
  async restore(row) {
    const { status, told } = await postForm(`${row.address}restore/`, {});
    if (status !== 200) return wordsOf(told);
    this.put(told.conversation);
    return "";
  }

  /**
   * Create, change or delete a folder.
   * @param {string} path below that of the folders @param {Record<string, string>} fields
   * @returns {Promise<{folder: number | null, problem: string}>}
   */
  async changeFolders(path, fields) {
    const { status, told } = await postForm(`/conversations/folders/${path}`, fields);
    if (status !== 200) return { folder: null, problem: wordsOf(told) };
    this.takeFolders(told.folders);
    return { folder: told.folder, problem: "" };
  }

  /** Open or close a folder, and remember it. @param {Folder} folder @param {boolean} collapsed */
  collapse(folder, collapsed) {
    if (folder.collapsed === collapsed) return;
    this.takeFolders(this.folders.map((one) => (one.id === folder.id ? { ...one, collapsed } : one)));
    void postForm(`/conversations/folders/${folder.id}/`, { collapsed: String(collapsed) });
  }

  #changed() {
    const shown = this.all.filter(({ archived }) => !archived).toSorted(byTime);
    this.#sections = sectionsOf(shown, this.folders, this.#sections);
    this.dispatchEvent(new CustomEvent("change"));
  }
}

/** @param {string} list @returns {Record<string, string>} */
function partOf(list) {
  if (list === MAIN || list === ARCHIVED) return { part: list };
  return { folder: list };
}

/** @param {any} told */
function wordsOf(told) {
  return told?.error?.message ?? FAILED;
}

/** @param {Row} one @param {Row} other */
function byTime(one, other) {
  return one.updated_at < other.updated_at ? 1 : one.updated_at > other.updated_at ? -1 : 0;
}
