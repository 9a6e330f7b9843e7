// Shows the admin in the theme of the pages. The theme's scripts read it from `adminTheme` when they start.
(() => {
  const KEY = "theme";
  const root = document.documentElement;
  const account = document.currentScript?.dataset.theme;

  /** @param {string | null | undefined} theme "light", "dark", "contrast" or "system" */
  function apply(theme) {
    if (theme === "contrast") root.dataset.theme = theme;
    else delete root.dataset.theme;
    const shown = theme === "light" || theme === "dark" ? theme : "auto";
    try {
      localStorage.setItem("adminTheme", JSON.stringify(shown));
    } catch {
      // Storage is refused: the theme of the system is shown.
    }
    const { Alpine } = /** @type {{Alpine?: {$data: (element: Element) => {adminTheme: string}}}} */ (globalThis);
    if (Alpine) Alpine.$data(root).adminTheme = shown;
    for (const input of inputs()) input.checked = input.value === (theme ?? "system");
  }

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function inputs() {
    /** @type {NodeListOf<HTMLInputElement>} */
    const found = document.querySelectorAll(".theme-switch input");
    return found;
  }

  /** @param {HTMLInputElement} input */
  function choose(input) {
    apply(input.value);
    try {
      localStorage.setItem(KEY, input.value);
    } catch {
      // It applies to this page only.
    }
    const url = input.closest("fieldset")?.dataset.keep;
    const token = document.querySelector("input[name=csrfmiddlewaretoken]");
    if (!url || !(token instanceof HTMLInputElement)) return;
    const body = new URLSearchParams({ theme: input.value, csrfmiddlewaretoken: token.value });
    void fetch(url, { method: "POST", body, redirect: "manual", keepalive: true });
  }

  apply(account || stored());
  addEventListener("DOMContentLoaded", () => apply(account || stored()));
  // The theme's scripts read the system's scheme only when `adminTheme` changes.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    const { Alpine } = /** @type {{Alpine?: {$data: (element: Element) => {adminTheme: string}}}} */ (globalThis);
    const data = Alpine?.$data(root);
    if (data?.adminTheme !== "auto") return;
    data.adminTheme = "";
    data.adminTheme = "auto";
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY) apply(newValue);
  });
  document.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches(".theme-switch input")) choose(target);
  });
})();
