// The page around the editor: DIAL's chat, or nobody.

export class Host {
  /**
   * `origins` are those that may be it; with none, the policy of the page alone says who may.
   * @param {string[]} origins @param {string | undefined} name
   */
  constructor(origins, name) {
    this.origins = origins;
    this.name = name;
    this.isThere = window.parent !== window;
  }

  /**
   * Some hosts read what a message is about beside its type, some in its payload.
   * @param {string} type @param {Record<string, unknown>} about
   */
  say(type, about = {}) {
    if (!this.isThere) return;
    for (const target of this.targets()) {
      window.parent.postMessage({ type, ...about, payload: about }, target);
    }
  }

  /** As the application's type: each type may have an editor. @param {string} event */
  announce(event) {
    this.say(`${this.name}/${event}`);
  }

  /**
   * `handlers` are by the type of the message; they get what it is about.
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
