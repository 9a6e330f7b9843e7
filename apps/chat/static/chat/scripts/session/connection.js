/** A WebSocket that reconnects with increasing delays until it is stopped. */

const FIRST_DELAY = 400;
const LONGEST_DELAY = 15_000;

/**
 * @typedef {object} FirstSocket of the page, which `first-socket.js` has opened
 * @property {WebSocket} socket
 * @property {string} opens
 * @property {string[]} received
 */

/**
 * Dispatches `open`, `lost`, `frame` (detail: the frame) and `refused` (detail: the close code).
 */
export class Connection extends EventTarget {
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #timer = 0;
  #refused = false;
  #address;
  /** The ID of the conversation that the socket opens itself, or "". */
  opens = "";
  /** @type {object | null} the first frame of each socket, which identifies a visitor who has no cookie */
  greeting = null;

  /** @param {string} path of the socket on this host */
  constructor(path) {
    super();
    const address = new URL(path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#address = address.href;
    addEventListener("online", () => this.restart());
    addEventListener("offline", () => this.#drop());
    // A page that returns from the back/forward cache has lost its socket without an event.
    addEventListener("pageshow", (event) => event.persisted && this.restart());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#timer);
    if (this.#refused) return;
    const first = this.#first();
    const socket = first?.socket ?? new WebSocket(this.#address);
    this.#socket = socket;
    this.opens = first?.opens ?? "";
    socket.onmessage = null;
    socket.addEventListener("open", () => this.#is(socket) && this.#begin());
    socket.addEventListener("message", ({ data }) => this.#is(socket) && this.#receive(data));
    socket.addEventListener("close", ({ code }) => this.#is(socket) && this.#end(code));
    if (this.isOpen) this.#begin();
    for (const text of first?.received ?? []) if (this.#is(socket)) this.#receive(text);
  }

  #begin() {
    if (this.greeting) this.send(this.greeting);
    this.#tell("open");
  }

  /** The socket that was opened before the modules were loaded, if it is still usable. @returns {FirstSocket | null} */
  #first() {
    const first = /** @type {{firstSocket?: FirstSocket}} */ (globalThis).firstSocket;
    Object.assign(globalThis, { firstSocket: undefined });
    const [address] = first?.socket.url.split("?") ?? [];
    return first && address === this.#address && first.socket.readyState <= WebSocket.OPEN ? first : null;
  }

  /** Drop the socket, which may be dead without an event, and connect immediately. */
  restart() {
    this.#drop();
    this.connect();
  }

  /** @param {object} frame @returns {boolean} true if the frame was sent */
  send(frame) {
    if (!this.isOpen) return false;
    this.#socket?.send(JSON.stringify(frame));
    return true;
  }

  #drop() {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = null;
    socket.close();
    this.#tell("lost");
  }

  /** @param {number} code */
  #end(code) {
    this.#socket = null;
    if (code >= 4000 && code < 5000) {
      this.#refused = true;
      this.#tell("refused", code);
      return;
    }
    this.#tell("lost");
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#failures++);
    this.#timer = setTimeout(() => this.connect(), delay * (0.5 + Math.random() / 2));
  }

  /** @param {string} text */
  #receive(text) {
    // Reset only now: a server that accepts and closes at once must not be called without a pause.
    this.#failures = 0;
    this.#tell("frame", JSON.parse(text));
  }

  /** @param {WebSocket} socket */
  #is(socket) {
    return this.#socket === socket;
  }

  /** @param {string} name @param {unknown} [detail] */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
