// The button that tries what stands in the form of a deployment, without saving it. The names of the
// service's models are then offered where one is typed.

function offer(names) {
  const field = document.querySelector("[name=model_name]");
  const list = document.querySelector("#service-models");
  list.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
  field.setAttribute("list", list.id);
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
      status.textContent = `${outcome.ok ? "✓" : "✗"} ${outcome.message}${more}`;
      offer(names);
    } catch {
      status.textContent = "✗ This server cannot be reached.";
    }
    button.disabled = false;
  });
}
