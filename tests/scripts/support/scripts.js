/** Runs the scripts of the site in a window, straight from their sources. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const ROOT = join(import.meta.dirname, "..", "..", "..");
/** Where the static files of each first folder below `/static/` are. */
const FOLDERS = { chat: "apps/chat/static", console: "apps/console/static" };
/** @type {Map<string, {source: string, cachedData: Buffer}>} what was read and compiled for an earlier window */
const compiled = new Map();

/** Whether an address is a script of the site, and not one of the libraries of its admin. @param {string} address */
export function isOwn(address) {
  const [, folder, name] = address.split("/");
  return folder === "static" && name in FOLDERS;
}

/** The source of a static file. @param {string} address such as `/static/chat/scripts/page/page.js` */
export function sourceOf(address) {
  const name = address.replace(/^\/static\//, "");
  return readFileSync(join(ROOT, FOLDERS[name.split("/")[0]], name), "utf8");
}

/** The modules of one window: each runs once, as in a browser. */
export class Scripts {
  /** @type {Map<string, vm.SourceTextModule>} by address */
  #modules = new Map();
  #window;

  constructor(window) {
    this.#window = window;
  }

  /** Run a module and what it imports, and return what it exports. @param {string} address */
  async import(address) {
    const module = this.#module(new URL(address, this.#window.location.href).href);
    if (module.status === "unlinked") await module.link((name, { identifier }) => this.#module(new URL(name, identifier).href));
    await module.evaluate();
    return module.namespace;
  }

  /** Run a classic script. @param {string} address @param {Element} [element] which names it */
  run(address, element) {
    const { document } = this.#window;
    Object.defineProperty(document, "currentScript", { value: element ?? null, configurable: true });
    vm.runInContext(sourceOf(address), this.#window, { filename: address });
    Object.defineProperty(document, "currentScript", { value: null, configurable: true });
  }

  /** @param {string} href */
  #module(href) {
    const known = this.#modules.get(href);
    if (known) return known;
    const { pathname } = new URL(href);
    const { source, cachedData } = compiled.get(pathname) ?? { source: sourceOf(pathname) };
    const module = new vm.SourceTextModule(source, {
      identifier: href,
      context: this.#window,
      cachedData,
      initializeImportMeta: (meta) => (meta.url = href),
      importModuleDynamically: (name) => this.import(new URL(name, href).href),
    });
    // Node does not know which module imports something later if its code comes from a cache.
    if (!compiled.has(pathname)) {
      const importsLater = source.includes("import(");
      compiled.set(pathname, { source, cachedData: importsLater ? undefined : module.createCachedData() });
    }
    this.#modules.set(href, module);
    return module;
  }
}
