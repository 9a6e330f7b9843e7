// The palette of the admin and of the chat page: Ctrl+K or a button opens it, then text, arrow keys and Enter.

/**
 * @typedef {{title: string, detail: string, url: string, act?: () => void}} Entry
 * @typedef {{title: string, found: Entry[]}} Group
 */

const PAUSE = 120;
// The catalog of the page's language; English pages, including the admin, have none.
/** @type {Pick<import("../chat/scripts/texts.js").Catalogue, "gettext" | "ngettext">} */
const texts = globalThis.django?.gettext
  ? globalThis.django
  : { gettext: (text) => text, ngettext: (one, many, count) => (count === 1 ? one : many) };

addEventListener("DOMContentLoaded", () => {
  const dialog = document.querySelector("#palette");
  if (dialog instanceof HTMLDialogElement) wirePalette(dialog);
});

/** @param {HTMLDialogElement} dialog */
function wirePalette(dialog) {
  const input = /** @type {HTMLInputElement} */ (dialog.querySelector("input"));
  const list = /** @type {HTMLElement} */ (dialog.querySelector("[role=listbox]"));
  const state = /** @type {HTMLElement} */ (dialog.querySelector("[role=status]"));
  let timer = 0;
  let asking = new AbortController();
  /** True if Enter was pressed before the current search ended. */
  let opensFirst = false;

  for (const button of document.querySelectorAll("[data-opens-palette]")) {
    button.addEventListener("click", open);
  }
  document.addEventListener("keydown", (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (document.documentElement.dataset.shortcuts === "off") return; // According to the user's preference.
    if (!isShortcut || event.key.toLowerCase() !== "k" || event.defaultPrevented) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else if (!document.querySelector("dialog[open]")) open();
  });
  dialog.querySelector("[data-close]")?.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    expect();
    timer = setTimeout(find, PAUSE);
  });
  dialog.addEventListener("filtered", () => {
    if (!dialog.open) return;
    expect();
    find();
  });
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asking.abort();
    opensFirst = false;
  });
  input.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) choose(step);
    else if (event.key === "Enter" && isSearching()) opensFirst = true;
    else if (event.key === "Enter") options().find(isChosen)?.click();
    else return;
    event.preventDefault();
  });

  function open() {
    input.value = "";
    list.replaceChildren();
    dialog.showModal();
    input.focus();
    dialog.dispatchEvent(new CustomEvent("opened"));
    expect();
    find();
  }

  /** Rows of a previous search stay visible, but cannot be opened, until new ones arrive. */
  function expect() {
    opensFirst = false;
    list.setAttribute("aria-busy", "true");
    state.textContent = texts.gettext("Searching…");
    options().find(isChosen)?.setAttribute("aria-selected", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function isSearching() {
    return list.getAttribute("aria-busy") === "true";
  }

  async function find() {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const words = input.value;
    const isStale = () => signal.aborted || words !== input.value;
    try {
      const filters = dialog.dataset.filters ? `&${dialog.dataset.filters}` : "";
      const answer = await fetch(`${dialog.dataset.url}?${new URLSearchParams({ q: words })}${filters}`, {
        signal,
        headers: { Accept: "application/json" },
      });
      if (!answer.ok || answer.redirected) throw new Error(`${answer.status}`);
      const { groups } = await answer.json();
      if (isStale()) return;
      // The page may add its own commands: entries with an `act` instead of a URL.
      dialog.dispatchEvent(new CustomEvent("found", { detail: { words, groups } }));
      show(groups);
    } catch {
      if (isStale()) return;
      show([]);
      state.textContent = texts.gettext("Search is unavailable. Reload the page and sign in again.");
    }
  }

  /** @param {Group[]} groups */
  function show(groups) {
    list.replaceChildren(...groups.map(group));
    list.removeAttribute("aria-busy");
    const count = options().length;
    input.setAttribute("aria-expanded", String(count > 0));
    list.hidden = count === 0;
    const found = texts.ngettext("{count} found", "{count} found", count).replace("{count}", String(count));
    state.textContent = count === 0 ? texts.gettext("No results.") : found;
    choose(1);
    if (opensFirst) options().find(isChosen)?.click();
    opensFirst = false;
  }

  /** @param {Group} group @param {number} place */
  function group({ title, found }, place) {
    const part = document.createElement("div");
    const heading = document.createElement("p");
    heading.id = `palette-group-${place}`;
    heading.textContent = title;
    part.setAttribute("role", "group");
    part.setAttribute("aria-labelledby", heading.id);
    part.append(heading, ...found.map((one, number) => option(one, `${place}-${number}`)));
    return part;
  }

  /** @param {Entry} entry @param {string} id */
  function option({ title, detail, url, act }, id) {
    const link = document.createElement("a");
    link.id = `palette-option-${id}`;
    link.href = url;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.append(words(title), " ", words(detail));
    // Not when it enters: rows that scroll below a pointer at rest are not meant.
    link.addEventListener("pointermove", () => {
      if (!isSearching() && !isChosen(link)) select(link);
    });
    link.addEventListener("click", (event) => {
      if (isSearching()) return event.preventDefault();
      dialog.close();
      if (!act) return;
      event.preventDefault();
      act();
    });
    return link;
  }

  /** Words in their own direction. @param {string} text */
  function words(text) {
    const span = document.createElement("span");
    span.dir = "auto";
    span.textContent = text;
    return span;
  }

  function options() {
    return /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=option]")]);
  }

  /** @param {Element} option */
  function isChosen(option) {
    return option.getAttribute("aria-selected") === "true";
  }

  /** @param {number} step */
  function choose(step) {
    const all = isSearching() ? [] : options();
    const next = all[(all.findIndex(isChosen) + step + all.length) % all.length];
    select(next);
    next?.scrollIntoView({ block: "nearest" });
  }

  /** @param {HTMLElement | undefined} option */
  function select(option) {
    options().find(isChosen)?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }
}
