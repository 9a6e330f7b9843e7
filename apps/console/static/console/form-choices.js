// Shows form fields only if their choice is selected.

/** @type {Record<string, Record<string, string[]>>} */
const rules = JSON.parse(document.querySelector("#form-choices")?.textContent ?? "{}");

/** The selects of the rules. If a choice is read-only, so are its fields. @type {Map<string, HTMLSelectElement>} */
const choices = new Map();
for (const name of Object.keys(rules)) {
  const choice = document.querySelector(`[name="${name}"]`);
  if (choice instanceof HTMLSelectElement) choices.set(name, choice);
}

function update() {
  /** @type {Map<string, boolean>} */
  const isHidden = new Map();
  for (const [name, { value }] of choices) {
    if (isHidden.get(name)) continue;
    const wanted = new Set(rules[name]?.[value]);
    for (const field of Object.values(rules[name] ?? {}).flat()) {
      isHidden.set(field, isHidden.get(field) || !wanted.has(field));
    }
  }
  for (const [field, hidden] of isHidden) {
    const line = document.querySelector(`.field-${field}`);
    // Fields with errors stay visible.
    if (line instanceof HTMLElement) line.hidden = hidden && !line.querySelector(".errorlist, .text-red-600 li");
  }
}

for (const choice of choices.values()) choice.addEventListener("change", update);
update();
