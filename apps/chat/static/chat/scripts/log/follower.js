/** Keeps the newest words in sight, only for a reader who is at the bottom already. */

/** Pixels from the bottom that still count as being there. */
const NEAR = 64;

export class Follower {
  /** Whether the reader is to stay at the top, whatever comes. */
  isPaused = false;
  #following = true;
  #lastTop = 0;
  #onChange;

  /**
   * @param {HTMLElement} content that grows
   * @param {(away: boolean) => void} onChange told whether there is something further down
   */
  constructor(content, onChange) {
    this.#onChange = onChange;
    addEventListener("scroll", () => this.#notice(), { passive: true });
    new ResizeObserver(() => this.#keepUp()).observe(content);
  }

  /** Go to the bottom and stay there. */
  follow() {
    this.#following = true;
    this.#keepUp();
  }

  /** Stay where the reader is taken. */
  rest() {
    this.#following = false;
    this.#lastTop = scrollY;
  }

  #notice() {
    if (this.isPaused) return;
    const top = scrollY;
    // Only a move upwards is the reader's will: the bottom also moves away by itself.
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
