/** Show the fields of the chosen kind alone, and begin with the time zone of the browser. */

const form = /** @type {HTMLFormElement} */ (document.querySelector(".schedule-form"));
const kind = /** @type {HTMLSelectElement} */ (form.elements.namedItem("kind"));
const zone = /** @type {HTMLInputElement} */ (form.elements.namedItem("time_zone"));

function showKind() {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-kinds]"))) {
    const kinds = (part.dataset.kinds ?? "").split(" ").filter(Boolean);
    part.hidden = kinds.length > 0 && !kinds.includes(kind.value);
  }
}

kind.addEventListener("change", showKind);
showKind();
const isNew = location.pathname.endsWith("/new/");
if (isNew && zone.value === "UTC") zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
