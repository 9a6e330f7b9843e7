// The button that tests the values in a deployment's form without saving them. The model field then
// suggests the names of the service's models.

import { part } from "../parts.js";

/** @import { Field } from "../parts.js" */

/** @param {string[]} names */
function offer(names) {
  const field = part(document, "[name=model_name]", HTMLInputElement);
  const list = part(document, "#service-models", HTMLDataListElement);
  list.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
  field.setAttribute("list", list.id);
}

/** Shows the known capability of the typed model in the option for the default. @param {Record<string, string>} labels */
function tellKnown(labels) {
  for (const [name, label] of Object.entries(labels)) {
    part(document, `[data-known=${name}], select[name=${name}] option`, HTMLElement).textContent = label;
  }
}

/**
 * Fills in the service's data about the model in fields that the operator left empty. Returns true if anything was filled in.
 * @param {Record<string, unknown>} told
 */
function fillIn(told) {
  const empty = Object.entries(told)
    .map(([name, value]) => ({ field: /** @type {Field} */ (part(document, `[name=${name}]`, HTMLElement)), value: String(value) }))
    .filter(({ field }) => ["", "unknown"].includes(field.value));
  for (const { field, value } of empty) field.value = value;
  return empty.length > 0;
}

const place = document.querySelector("[data-test-connection]");
if (place instanceof HTMLElement) {
  const button = part(place, "button", HTMLButtonElement);
  const status = part(place, "[role=status]", HTMLElement);
  /** @param {string} text */
  const tell = (text, isBad = false) => {
    status.textContent = text;
    for (const name of ["console-notice", "console-bad"]) status.classList.toggle(name, isBad);
  };
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    tell("Calling the model…");
    const body = new FormData(place.closest("form") ?? undefined);
    body.set("test_pk", place.dataset.pk ?? "");
    try {
      const response = await fetch(place.dataset.url ?? "", { method: "POST", body });
      const outcome = response.ok
        ? await response.json()
        : { ok: false, message: `The test failed (status ${response.status}).` };
      const names = outcome.models ?? [];
      const more = names.length ? ` The service offers ${names.length === 1 ? "1 model" : `${names.length} models`}; choose one in “Model name”.` : "";
      tellKnown(outcome.known ?? {});
      const filled = fillIn(outcome.told ?? {}) ? " The capabilities below were filled in from the service." : "";
      if (filled) part(document, ".more-options", HTMLDetailsElement).open = true;
      tell(`${outcome.ok ? "✓ " : ""}${outcome.message}${more}${filled}`, !outcome.ok);
      offer(names);
    } catch {
      tell("This server cannot be reached.", true);
    }
    button.disabled = false;
  });
  // The list of deployments links to this.
  if (location.hash === "#test") {
    place.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
    button.click();
  }
}
