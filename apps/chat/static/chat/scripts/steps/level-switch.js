/** The selector for the amount of detail, on every page that offers it. */

import { setStepLevel, stepLevel, stepLevelChanges } from "./level.js";

for (const choice of document.querySelectorAll("select[data-step-level]")) {
  if (!(choice instanceof HTMLSelectElement)) continue;
  choice.value = stepLevel();
  choice.addEventListener("change", () => setStepLevel(choice.value));
  stepLevelChanges.addEventListener("change", () => (choice.value = stepLevel()));
}
