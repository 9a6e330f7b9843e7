// Shows form fields only if their choice is selected.

const rules = JSON.parse(document.querySelector("#form-choices")?.textContent ?? "{}");

for (const [name, shown] of Object.entries(rules)) {
  const choice = document.querySelector(`[name="${name}"]`);
  // If the choice is read-only, so are its fields.
  if (!(choice instanceof HTMLSelectElement)) continue;
  const update = () => show(shown, choice.value);
  choice.addEventListener("change", update);
  update();
}

/** @param {Record<string, string[]>} shown @param {string} value */
function show(shown, value) {
  const wanted = new Set(shown[value]);
  for (const field of new Set(Object.values(shown).flat())) {
    const line = document.querySelector(`.field-${field}`);
    // Fields with errors stay visible.
    if (line instanceof HTMLElement) line.hidden = !wanted.has(field) && !line.querySelector(".errorlist, .text-red-600 li");
  }
}
