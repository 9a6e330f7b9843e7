/** Uploads to the server, and uploaded files waiting for their question. */

import { lastSegment } from "../addresses.js";
import { proof, remove } from "../requests.js";
import { sizeText } from "../sizes.js";
import { gettext, ngettext } from "../texts.js";

/**
 * @import { Attachment } from "../session/frames.js"
 *
 * @typedef {object} Upload
 * @property {number} id
 * @property {string} name
 * @property {number} size in bytes, 0 if it is not known any more
 * @property {string} type
 * @property {"waiting" | "sending" | "done" | "failed"} state
 * @property {number} progress from 0 to 1
 * @property {string} problem
 * @property {boolean} isRetryable
 * @property {string} url of the stored file, "" before it is one
 * @property {boolean} isBorrowed it belongs to an earlier question, and stays when it leaves the tray
 * @property {File | null} file
 * @property {XMLHttpRequest | null} request
 * @property {string} address that takes it
 * @property {string} conversation the ID of its conversation
 *
 * @typedef {{size: number, types: string[], names: string, most: number}} Limits types are such as `image/*`, and names are theirs for users
 */

/** Simultaneous uploads; browsers open few connections per host. */
const LANES = 3;
const ENDING = /\.[^.]{1,10}$/;
const LOST = gettext("The connection was lost.");
/** Answers after which the same file may be accepted: no valid token, too slow, or a conflict. */
const RETRYABLE = new Set([403, 408, 409]);

/** Dispatches `change`, and `told` (detail: `{text, isProblem}`) for screen readers. */
export class Uploads extends EventTarget {
  /** @type {Upload[]} */
  items = [];
  limits;
  #address;
  #conversation;
  /** @type {Map<string, Upload[]>} the uploads of other conversations, by ID */
  #elsewhere = new Map();
  #next = 1;

  /**
   * @param {string} address that takes files
   * @param {Limits} limits
   * @param {() => string} conversation the ID of their conversation
   */
  constructor(address, limits, conversation) {
    super();
    this.#address = address;
    this.limits = limits;
    this.#conversation = conversation;
    addEventListener("online", () => this.#retryLost());
  }

  /**
   * Show the files of another conversation.
   * @param {string} before the ID of the previously open conversation @param {string} now
   * @param {string} address that takes its files @param {Limits} limits
   */
  open(before, now, address, limits) {
    this.#elsewhere.set(before, this.items);
    this.items = this.#elsewhere.get(now) ?? [];
    this.#elsewhere.delete(now);
    this.#address = address;
    this.limits = limits;
  }

  get isPending() {
    return this.items.some(({ state }) => state === "waiting" || state === "sending");
  }

  get isReady() {
    return this.items.every(({ state }) => state === "done");
  }

  /** @param {string} type @returns {boolean} true if files of the type can be sent */
  takes(type) {
    const { types } = this.limits;
    return !types.length || types.some((kind) => isOfKind(type, kind));
  }

  /** @param {Iterable<File>} files @returns {Upload[]} */
  add(files) {
    const added = [...files].map((file) => this.#made(file));
    this.items = [...this.items, ...added];
    const refused = added.filter(({ problem }) => problem);
    const words = added.length === 1 ? gettext("{name} added.", { name: added[0].name }) : ngettext("{count} file added.", "{count} files added.", added.length);
    if (refused.length) this.#say(refused.map(({ name, problem }) => `${name}: ${problem}`).join(" "), true);
    else if (added.length) this.#say(words);
    this.#go();
    return added;
  }

  /** @param {number} id */
  drop(id) {
    const item = this.items.find((known) => known.id === id);
    if (!item) return;
    this.items = this.items.filter((known) => known !== item);
    item.request?.abort();
    if (item.url && !item.isBorrowed) void remove(`/${item.url}`);
    this.#say(gettext("{name} removed.", { name: item.name }));
    this.#go();
  }

  /** @param {number} id */
  retry(id) {
    const item = this.items.find((known) => known.id === id);
    if (!item?.isRetryable) return;
    this.#change(item, { state: "waiting", problem: "", progress: 0 });
    this.#go();
  }

  /** @returns {Attachment[]} the stored files, which are no longer in the tray */
  take() {
    const taken = this.items.filter(({ state }) => state === "done");
    this.items = this.items.filter(({ state }) => state !== "done");
    this.#changed();
    return taken.map(({ name, type, url, isBorrowed }) => ({ title: name, type, url, isBorrowed }));
  }

  /** Add a stored file to the tray. @param {{name: string, url: string, type: string, size: number}} file */
  borrow({ name, url, type, size }) {
    if (this.items.some((item) => item.url === url)) return;
    this.items = [...this.items, this.#item({ name, url, type, size, state: "done", progress: 1, isBorrowed: true })];
    this.#say(gettext("{name} added.", { name }));
    this.#changed();
  }

  /** Return stored files to the tray. @param {(Attachment & {isBorrowed?: boolean})[]} attachments */
  giveBack(attachments) {
    const back = attachments.map(({ title, type, url = "", isBorrowed = false }) =>
      this.#item({ name: title || lastSegment(url), type, url, isBorrowed, state: "done", progress: 1 }),
    );
    this.items = [...back, ...this.items];
    if (back.length) this.#changed();
  }

  /** @param {File} file @returns {Upload} */
  #made(file) {
    const problem = this.#problemOf(file);
    return this.#item({
      name: file.name || "file",
      size: file.size,
      type: file.type,
      state: problem ? "failed" : "waiting",
      problem,
      file,
    });
  }

  /** @param {Partial<Upload>} given @returns {Upload} */
  #item(given) {
    return {
      id: this.#next++,
      name: "",
      size: 0,
      type: "",
      state: "waiting",
      progress: 0,
      problem: "",
      isRetryable: false,
      url: "",
      isBorrowed: false,
      file: null,
      request: null,
      address: this.#address,
      conversation: this.#conversation(),
      ...given,
    };
  }

  /** @param {File} file @returns {string} why it cannot be sent */
  #problemOf({ name, size, type }) {
    const { limits } = this;
    if (size > limits.size) {
      return gettext("Too large ({size}). The limit is {limit}.", { size: sizeText(size), limit: sizeText(limits.size) });
    }
    if (size === 0) return gettext("Can’t attach empty files or folders.");
    if (!type || this.takes(type)) return "";
    const ending = ENDING.exec(name)?.[0].toLowerCase();
    if (!ending) return gettext("Can’t attach this type of file. Allowed: {names}.", { names: limits.names });
    return gettext("Can’t attach {extension} files. Allowed: {names}.", { extension: ending, names: limits.names });
  }

  #go() {
    const going = this.items.filter(({ state }) => state === "sending").length;
    const waiting = this.items.filter(({ state }) => state === "waiting");
    for (const item of waiting.slice(0, Math.max(0, LANES - going))) this.#send(item);
    this.#changed();
  }

  /** @param {Upload} item */
  #send(item) {
    if (!item.file) return;
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.set("conversation", item.conversation);
    form.set("file", item.file, item.name);
    request.open("POST", item.address);
    request.responseType = "json";
    for (const [name, value] of Object.entries(proof())) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      this.#change(item, { progress: total ? loaded / total : 0 }),
    );
    request.addEventListener("load", () => this.#answered(item, request));
    request.addEventListener("error", () => this.#failed(item, LOST, true));
    request.addEventListener("timeout", () => this.#failed(item, LOST, true));
    Object.assign(item, { request, state: "sending", progress: 0 });
    request.send(form);
  }

  /** @param {Upload} item @param {XMLHttpRequest} request */
  #answered(item, { status, response }) {
    if (status === 201 && response?.url) {
      const { name, url, size, type } = response;
      Object.assign(item, { name, url, size, type, state: "done", progress: 1, request: null });
      this.#say(gettext("{name} uploaded.", { name }));
      this.#go();
      return;
    }
    const told = response?.error?.message;
    const words = status === 403 ? gettext("This page is out of date. Reload it and try again.") : gettext("The server rejected the file. Try another file.");
    this.#failed(item, told ?? words, status >= 500 || RETRYABLE.has(status));
  }

  /** @param {Upload} item @param {string} problem @param {boolean} isRetryable */
  #failed(item, problem, isRetryable) {
    Object.assign(item, { state: "failed", problem, isRetryable, request: null });
    if (this.items.includes(item)) this.#say(`${item.name}: ${problem}`, true);
    this.#go();
  }

  #retryLost() {
    for (const { id, problem } of this.items) if (problem === LOST) this.retry(id);
  }

  /** @param {Upload} item @param {Partial<Upload>} changes */
  #change(item, changes) {
    Object.assign(item, changes);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }

  /** @param {string} text @param {boolean} [isProblem] */
  #say(text, isProblem = false) {
    this.dispatchEvent(new CustomEvent("told", { detail: { text, isProblem } }));
  }
}

/** @param {string} type @param {string} kind such as `image/*` */
function isOfKind(type, kind) {
  if (kind === "*" || kind === "*/*") return true;
  return kind.endsWith("/*") ? type.startsWith(kind.slice(0, -1)) : type === kind;
}
