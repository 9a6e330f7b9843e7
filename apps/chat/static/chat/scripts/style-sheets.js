/** Style sheets that are loaded on demand. */

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/** @param {string} address @returns {Promise<void>} when they hold, or cannot be had */
export function loadStyles(address) {
  const known = loaded.get(address);
  if (known) return known;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = address;
  const done = new Promise((/** @type {(value: void) => void} */ resolve) => {
    link.onload = link.onerror = () => resolve();
  });
  loaded.set(address, done);
  document.head.append(link);
  return done;
}
