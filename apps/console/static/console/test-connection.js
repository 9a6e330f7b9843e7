// The button that tries what stands in the form of a deployment, without saving it. The names of the
// service's models are then offered where one is typed.

function offer(names) {
  const field = document.querySelector("[name=model_name]");
  const list = document.querySelector("#service-models");
  list.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
  field.setAttribute("list", list.id);
}

// What is known of the model that was typed, as the choice that says nothing.
function tellKnown(labels) {
  for (const [name, label] of Object.entries(labels)) {
    const place = document.querySelector(`[data-known=${name}], select[name=${name}] option`);
    place.textContent = label;
  }
}

// What the service says of the model, where the operator has said nothing. Returns whether anything
// was filled in.
function fillIn(told) {
  const empty = Object.entries(told)
    .map(([name, value]) => [document.querySelector(`[name=${name}]`), String(value)])
    .filter(([field]) => ["", "unknown"].includes(field.value));
  for (const [field, value] of empty) field.value = value;
  return empty.length > 0;
}

const place = document.querySelector("[data-test-connection]");
if (place) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "Asking the model…";
    const body = new FormData(place.closest("form"));
    body.set("test_pk", place.dataset.pk);
    try {
      const response = await fetch(place.dataset.url, { method: "POST", body });
      const outcome = response.ok
        ? await response.json()
        : { ok: false, message: `The test could not be made (status ${response.status}).` };
      const names = outcome.models ?? [];
      const more = names.length ? ` The service offers ${names.length} models; choose one at "Model name".` : "";
      tellKnown(outcome.known ?? {});
      const filled = fillIn(outcome.told ?? {}) ? " What the service says of the model is filled in above." : "";
      status.textContent = `${outcome.ok ? "✓" : "✗"} ${outcome.message}${more}${filled}`;
      offer(names);
    } catch {
      status.textContent = "✗ This server cannot be reached.";
    }
    button.disabled = false;
  });
}
