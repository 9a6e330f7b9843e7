/** Keeps the newest text in view if the reader is at the bottom. */

/** Pixels from the bottom that still count as the bottom. */
const NEAR = 64;

export class Follower {
  /** True to stay at the current position, whatever arrives. */
  isPaused = false;
  #following = true;
  #lastTop = 0;
  #onChange;

  /**
   * @param {HTMLElement} content that grows
   * @param {(away: boolean) => void} onChange called with true while there is more below
   */
  constructor(content, onChange) {
    this.#onChange = onChange;
    addEventListener("scroll", () => this.#notice(), { passive: true });
    new ResizeObserver(() => this.#keepUp()).observe(content);
  }

  /** Scroll to the bottom and stay there. */
  follow() {
    this.#following = true;
    this.#keepUp();
  }

  /** Stay at the position to which the reader is moved. */
  rest() {
    this.#following = false;
    this.#lastTop = scrollY;
  }

  #notice() {
    if (this.isPaused) return;
    const top = scrollY;
    // Only scrolling up is the reader's intent: the bottom also moves on its own.
    if (this.#distance() <= NEAR) this.#following = true;
    else if (top < this.#lastTop) this.#following = false;
    this.#lastTop = top;
    this.#onChange(!this.#following);
  }

  #keepUp() {
    if (this.isPaused) return;
    if (this.#following) scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.#onChange(!this.#following && this.#distance() > NEAR);
  }

  #distance() {
    return document.documentElement.scrollHeight - innerHeight - scrollY;
  }
}
