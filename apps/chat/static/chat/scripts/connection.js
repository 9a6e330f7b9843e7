/** A WebSocket that comes back: it connects again, ever more slowly, until it is told to stop. */

const FIRST_DELAY = 400;
const LONGEST_DELAY = 15_000;

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

  /** @param {string} path of the socket on this host */
  constructor(path) {
    super();
    const address = new URL(path, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#address = address.href;
    addEventListener("online", () => this.restart());
    addEventListener("offline", () => this.#drop());
    // A page that comes out of the back/forward cache has lost its socket without being told.
    addEventListener("pageshow", (event) => event.persisted && this.restart());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#timer);
    if (this.#refused) return;
    const socket = this.#first() ?? new WebSocket(this.#address);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#is(socket) && this.#tell("open"));
    socket.addEventListener("message", ({ data }) => this.#is(socket) && this.#receive(data));
    socket.addEventListener("close", ({ code }) => this.#is(socket) && this.#end(code));
    if (this.isOpen) this.#tell("open");
  }

  /** The socket that the page itself has opened before there were modules. */
  #first() {
    const { firstSocket } = globalThis;
    globalThis.firstSocket = undefined;
    const isGood = firstSocket && firstSocket.url === this.#address && firstSocket.readyState <= WebSocket.OPEN;
    return isGood ? firstSocket : null;
  }

  /** Forget the socket, which may be dead without knowing it, and connect at once. */
  restart() {
    this.#drop();
    this.connect();
  }

  /** @param {object} frame @returns {boolean} whether it could be handed to the network */
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
    // Only now: a server that accepts and closes at once must not be asked without a pause.
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
