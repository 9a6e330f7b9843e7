/** What the pages ask the server, except on their socket: each test says what is answered. */

export class Network {
  /** @type {{method: string, path: string, body: any, headers: Record<string, string>}[]} */
  requests = [];
  /** Whether requests fail as they do without a connection. */
  isDown = false;
  /** Leave uploads on their way until the test calls `respond`, `progress` or `fail` on them. */
  holdsUploads = false;
  /** @type {Upload[]} all that were begun */
  uploads = [];
  /** @type {[string, RegExp, (request: any) => any][]} the newest first */
  #answers = [];

  /**
   * Answer requests with JSON, or with a `Response` as it is.
   * @param {string} asked such as `GET /conversations/`; `*` stands for any characters
   * @param {unknown} answer a value, or a function of the request that returns one
   */
  answer(asked, answer) {
    const [method, path] = asked.split(" ");
    const pattern = new RegExp(`^${path.split("*").map(RegExp.escape ?? escaped).join(".*")}$`);
    this.#answers.unshift([method, pattern, typeof answer === "function" ? answer : () => answer]);
  }

  /** The requests to a path. @param {string} path */
  sent(path) {
    return this.requests.filter((request) => request.path === path);
  }

  /** The function `fetch` of a window. */
  fetchOf(window) {
    return async (address, { method = "GET", body = "", headers = {}, signal } = {}) => {
      const { pathname, search } = new URL(address, window.location.href);
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      if (this.isDown) throw new window.TypeError("Failed to fetch");
      const request = { method, path: pathname + search, body: read(body, window), headers };
      this.requests.push(request);
      const found = this.#answers.find(([known, pattern]) => known === method && pattern.test(request.path));
      const answer = found ? await Promise.race([found[2](request), aborted(signal)]) : new Response("", { status: 404 });
      if (window.isGone) await new Promise(() => {}); // nobody waits for it
      return answer instanceof Response ? answer : Response.json(answer);
    };
  }

  /** The class `XMLHttpRequest` of a window, which uploads files. */
  uploadClass(window) {
    const network = this;
    return class extends Upload {
      constructor() {
        super(network, window);
      }
    };
  }
}

/** One upload. Files are stored under their names. */
class Upload {
  status = 0;
  /** @type {any} */
  response = null;
  headers = {};
  #network;
  #window;
  #target;

  constructor(network, window) {
    this.#network = network;
    this.#window = window;
    this.#target = new window.EventTarget();
    this.upload = new window.EventTarget();
  }

  addEventListener(...given) {
    this.#target.addEventListener(...given);
  }

  open(method, address) {
    Object.assign(this, { method, address });
  }

  setRequestHeader(name, value) {
    this.headers[name] = value;
  }

  send(form) {
    this.file = form.get("file");
    this.conversation = form.get("conversation");
    this.#network.uploads.push(this);
    if (this.#network.isDown) setImmediate(() => this.fail());
    else if (!this.#network.holdsUploads) setImmediate(() => this.respond());
  }

  abort() {
    this.isAborted = true;
  }

  /** @param {number} part from 0 to 1 */
  progress(part) {
    const event = new this.#window.Event("progress");
    this.upload.dispatchEvent(Object.assign(event, { loaded: part * this.file.size, total: this.file.size }));
  }

  respond(status = 201, response = stored(this.file)) {
    if (this.isAborted || this.#window.isGone) return;
    Object.assign(this, { status, response });
    this.#target.dispatchEvent(new this.#window.Event("load"));
  }

  fail() {
    if (!this.isAborted && !this.#window.isGone) this.#target.dispatchEvent(new this.#window.Event("error"));
  }
}

/** Rejects when the page does not wait any more. */
function aborted(signal) {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

function stored({ name, size, type }) {
  return { name, size, type, url: `files/user-1/${encodeURIComponent(name)}` };
}

function read(body, window) {
  if (body instanceof window.URLSearchParams || body instanceof URLSearchParams) return Object.fromEntries(body);
  return typeof body === "string" && body ? JSON.parse(body) : body;
}

function escaped(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}
