/** Shows only the fields that apply to the choices, the next times while typing, and the browser's time zone. */

const PAUSE = 250;
const TIMING = ["repeats", "day", "at", "days", "month_day", "kind", "start_at", "every", "unit", "expression", "time_zone"];
const HOURS = ["active_from", "active_until"];

const form = /** @type {HTMLFormElement} */ (document.querySelector(".schedule-form"));
const repeats = /** @type {HTMLSelectElement} */ (form.elements.namedItem("repeats"));
const kind = /** @type {HTMLSelectElement} */ (form.elements.namedItem("kind"));
const zone = /** @type {HTMLSelectElement} */ (form.elements.namedItem("time_zone"));
const preview = /** @type {HTMLElement} */ (form.querySelector(".schedule-preview"));
const state = /** @type {HTMLElement} */ (preview.querySelector("[role=status]"));

function showFields() {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-repeats]"))) {
    part.hidden = !isAbout(part.dataset.repeats, repeats.value) || !isAbout(part.dataset.kinds, kind.value);
  }
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-shown-if]"))) {
    const conditions = (row.dataset.shownIf ?? "").split(" ");
    row.hidden = !conditions.some(isMet) && !row.querySelector(".errorlist");
  }
}

/** @param {string} condition such as "missed:all", or "max_runs:*" for any value */
function isMet(condition) {
  const [name, values] = condition.split(":");
  const { value } = /** @type {HTMLInputElement | HTMLSelectElement} */ (form.elements.namedItem(name));
  return values === "*" ? value !== "" : values.split(",").includes(value);
}

/** @param {string | undefined} named "" for all @param {string} chosen */
function isAbout(named, chosen) {
  return !named || named.split(" ").includes(chosen);
}

let timer = 0;
let asking = new AbortController();

function askLater() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

async function ask() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const typed = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if ([...TIMING, ...HOURS].includes(name)) typed.append(name, String(value));
  }
  try {
    const answer = await fetch(`${preview.dataset.address}?${typed}`, { signal, headers: { Accept: "application/json" } });
    if (!answer.ok || answer.redirected) throw new Error(`${answer.status}`);
    show(await answer.json());
  } catch {
    if (!signal.aborted) preview.hidden = true;
  }
}

/** @param {{words: string, times: string[], problem: string}} told */
function show({ words, times, problem }) {
  preview.hidden = false;
  preview.classList.toggle("has-problem", problem !== "");
  const text = document.createElement("p");
  text.textContent = problem || words;
  const list = document.createElement("ol");
  list.append(...times.map((one) => Object.assign(document.createElement("li"), { textContent: one })));
  state.replaceChildren(text, ...(times.length ? [list] : []));
}

for (const name of ["change", "input"]) form.addEventListener(name, showFields);
form.addEventListener("input", askLater);
const isNew = location.pathname.endsWith("/new/");
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (isNew && zone.value === "UTC" && [...zone.options].some(({ value }) => value === ownZone)) {
  zone.value = ownZone;
  zone.dispatchEvent(new Event("change", { bubbles: true }));
}
showFields();
void ask();
