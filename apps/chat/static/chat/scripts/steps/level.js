/** The amount of detail of steps; stored in this browser, and shared by all tabs. */

const KEY = "steps";

/** @typedef {"none" | "compact" | "folded" | "full"} StepLevel nothing, one line for steps in a row, each step until the text begins, or each step */

/** @type {StepLevel[]} */
export const STEP_LEVELS = ["none", "compact", "folded", "full"];

/** Dispatches `change`. */
export const stepLevelChanges = new EventTarget();

/** @type {StepLevel} */
let level = known(stored());

addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY) become(known(newValue));
});

export function stepLevel() {
  return level;
}

/** @param {string} wanted */
export function setStepLevel(wanted) {
  try {
    localStorage.setItem(KEY, known(wanted));
  } catch {
    // It applies to this page only.
  }
  become(known(wanted));
}

/** @param {StepLevel} wanted */
function become(wanted) {
  level = wanted;
  stepLevelChanges.dispatchEvent(new Event("change"));
}

/** @param {string | null} written @returns {StepLevel} */
function known(written) {
  return STEP_LEVELS.find((one) => one === written) ?? "folded";
}

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
