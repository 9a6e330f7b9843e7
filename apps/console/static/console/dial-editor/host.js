// The page that embeds the editor, if there is one: DIAL's chat.

export class Host {
  /**
   * `origins` are the allowed origins; if it is empty, the page's policy alone decides.
   * @param {string[]} origins @param {string | undefined} name
   */
  constructor(origins, name) {
    this.origins = origins;
    this.name = name;
    this.isThere = window.parent !== window;
  }

  /**
   * Some hosts read the details next to the message type, others in its payload.
   * @param {string} type @param {Record<string, unknown>} about
   */
  say(type, about = {}) {
    if (!this.isThere) return;
    for (const target of this.targets()) {
      window.parent.postMessage({ type, ...about, payload: about }, target);
    }
  }

  /** Includes the application's type, because each type may have its own editor. @param {string} event */
  announce(event) {
    this.say(`${this.name}/${event}`);
  }

  /**
   * `handlers` maps message types to functions, which receive the details.
   * @param {Record<string, (about: any) => unknown>} handlers
   */
  listen(handlers) {
    window.addEventListener("message", ({ data, origin, source }) => {
      if (!this.isThere || source !== window.parent || !this.knows(origin)) return;
      const handle = Object.hasOwn(handlers, data?.type) ? handlers[data.type] : null;
      handle?.({ ...data, ...data.payload });
    });
  }

  /** @param {string} origin */
  knows(origin) {
    return this.origins.length === 0 || this.origins.includes(origin);
  }

  targets() {
    if (this.origins.length === 0) return ["*"];
    const parent = window.location.ancestorOrigins?.[0] ?? originOf(document.referrer);
    return this.origins.includes(parent) ? [parent] : this.origins;
  }
}

/** @param {string} address */
function originOf(address) {
  try {
    return new URL(address).origin;
  } catch {
    return "";
  }
}
