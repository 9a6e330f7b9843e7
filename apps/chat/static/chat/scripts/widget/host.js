/** The page that embeds the widget, on another site; messages are accepted only through a port. */

/** @typedef {"ready" | "opened" | "closed" | "message" | "error" | "size"} Verb */

/** Dispatches `connected`, and one event for each command of the host (detail: its value). */
export class Host extends EventTarget {
  /** The origin of the page, "" until the port has arrived. */
  origin = "";
  /** @type {MessagePort | null} */
  #port = null;
  #allowed;
  #parent;

  /** @param {string[]} allowed origins @param {Window} parent */
  constructor(allowed, parent = window.parent) {
    super();
    this.#allowed = allowed;
    this.#parent = parent;
    addEventListener("message", (event) => this.#greet(event));
  }

  /** Request a port from the page. The message contains nothing confidential. */
  begin() {
    if (this.#parent !== window) this.#parent.postMessage("quickapps ready", "*");
  }

  /** @param {Verb} verb @param {object} [detail] */
  tell(verb, detail = {}) {
    this.#port?.postMessage([verb, detail]);
  }

  /** @param {MessageEvent} event */
  #greet({ source, origin, data, ports }) {
    const [name, said] = Array.isArray(data) ? data : [];
    if (source !== this.#parent || name !== "quickapps port" || !ports[0] || this.#port) return;
    if (!this.#allowed.includes(origin)) {
      this.#say("refused", origin);
      return;
    }
    this.origin = origin;
    this.#port = ports[0];
    this.#port.onmessage = ({ data: told }) => this.#take(told);
    this.#say("connected", origin);
    for (const one of Array.isArray(said) ? said : []) this.#take(one);
  }

  /** @param {unknown} told */
  #take(told) {
    if (!Array.isArray(told) || !VERBS.has(told[0])) {
      this.tell("error", { code: "verb_unknown", text: `Unknown verb. Use one of ${[...VERBS].join(", ")}.` });
      return;
    }
    this.#say(told[0], told[1]);
  }

  /** @param {string} name @param {unknown} detail */
  #say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

const VERBS = new Set(["open", "close", "ask", "context", "theme", "locale", "identity"]);
