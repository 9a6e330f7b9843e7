/** Tools that the page's scripts provide, which answers can call. */

/** @typedef {Record<string, any>} Arguments */
/** @typedef {(given: Arguments) => unknown} Run its return value, or the value of its promise, is the result as JSON */

const NAME = /^(?=.{1,64}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const RESERVED = "_platform.";
const LARGEST_RESULT = 200_000;
const LONGEST_ERROR = 2_000;

export class PageTools {
  /** @type {Map<string, Run>} */
  #tools = new Map();

  get names() {
    return [...this.#tools.keys()];
  }

  /** @param {{name: string, run: Run}} tool @returns {() => void} takes it away again */
  register({ name, run }) {
    if (!NAME.test(name)) throw new TypeError(`“${name}” is no name of a tool; write one like shop.fill_order.`);
    if (typeof run !== "function") throw new TypeError(`The tool ${name} needs a function run.`);
    if (this.#tools.has(name)) throw new Error(`There is a tool named ${name} already.`);
    this.#tools.set(name, run);
    return () => void this.#tools.delete(name);
  }

  /** Let scripts of the site register their own tools. */
  publish() {
    /** @param {{name: string, run: Run}} tool */
    const register = (tool) => {
      if (tool.name.startsWith(RESERVED)) throw new TypeError(`${RESERVED} begins names of the page's own tools.`);
      return this.register(tool);
    };
    Object.defineProperty(window, "quickapps", { value: Object.freeze({ tools: Object.freeze({ register }) }) });
  }

  /**
   * @param {string} name @param {Arguments} given
   * @returns {Promise<{result: unknown} | {error: string}>} as JSON can hold it
   */
  async call(name, given) {
    const run = this.#tools.get(name);
    if (!run) return { error: `This page has no tool named ${name}.` };
    try {
      const text = JSON.stringify((await run(given)) ?? null) ?? "null";
      if (text.length > LARGEST_RESULT) return { error: `The result has more than ${LARGEST_RESULT} characters.` };
      return { result: JSON.parse(text) };
    } catch (error) {
      return { error: String(error instanceof Error ? error.message : error).slice(0, LONGEST_ERROR) };
    }
  }
}
