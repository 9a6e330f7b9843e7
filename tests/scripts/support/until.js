/** Waiting for what a page does, with a bound. */

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

/** Milliseconds: long enough for a machine that is busy with other things. */
const PATIENCE = 20_000;
const PAUSE = 2;

/**
 * Wait until `read` returns the expected value; fails with the difference.
 * @template T
 * @param {() => T} read @param {T} expected
 */
export async function until(read, expected) {
  const end = performance.now() + PATIENCE;
  while (performance.now() < end) {
    if (isAs(read, expected)) return;
    await pause();
  }
  assert.deepEqual(plain(read()), expected);
}

/** Wait until `read` returns something, and return that. @template T @param {() => T} read */
export async function found(read) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    try {
      const value = read();
      if (value) return value;
      if (performance.now() > end) assert.fail(`Nothing was found: ${read}`);
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause();
  }
}

/** Let the page do what it can do without waiting. */
export async function settle() {
  for (let turn = 0; turn < 3; turn += 1) await pause();
}

/** Objects of a page have prototypes of their own, which comparisons would notice. @param {unknown} value */
export function plain(value) {
  return value !== null && typeof value === "object" ? structuredClone(JSON.parse(JSON.stringify(value))) : value;
}

/** What is read may not be there yet. */
function isAs(read, expected) {
  try {
    return isDeepStrictEqual(plain(read()), expected);
  } catch {
    return false;
  }
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE));
}
