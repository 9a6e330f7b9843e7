/** The theme (light, dark, or the system's), stored and shared by all tabs. */

import { post } from "../requests.js";

const KEY = "theme";

/** @param {string} theme "light", "dark", "contrast" or "system" */
function apply(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const input of inputs()) input.checked = input.value === theme;
}

function inputs() {
  return /** @type {NodeListOf<HTMLInputElement>} */ (
    document.querySelectorAll(".theme-switch input")
  );
}

for (const input of inputs()) {
  input.addEventListener("change", () => {
    apply(input.value);
    const account = input.closest("fieldset")?.dataset.keep;
    if (account) void post(account, { theme: input.value });
    try {
      localStorage.setItem(KEY, input.value);
    } catch {
      // It applies to this page only.
    }
  });
}
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY) apply(newValue ?? "system");
});
apply(document.documentElement.dataset.theme ?? "system");
