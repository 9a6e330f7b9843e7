// "Try it" on the page of the API: sends what stands in the form, with the session of the person.

for (const form of document.querySelectorAll("[data-try]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const state = form.querySelector("[role=status]");
  const shown = form.querySelector("pre");
  const button = form.querySelector("button");
  const { method } = form.dataset;
  button.disabled = true;
  state.textContent = "Sent …";
  try {
    const answer = await fetch(address(form), { method, ...content(form) });
    const text = await answer.text();
    state.textContent = `${method} ${address(form)} was answered with ${answer.status} ${answer.statusText}`;
    shown.textContent = readable(text);
    shown.hidden = text === "";
  } catch {
    state.textContent = "The server cannot be reached.";
    shown.hidden = true;
  }
  button.disabled = false;
}

function inputs(form, place) {
  return [...form.querySelectorAll(`[data-in=${place}]`)].filter((input) => input.value !== "");
}

function address(form) {
  let path = form.dataset.path;
  for (const { name, value } of inputs(form, "path")) {
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams(inputs(form, "query").map(({ name, value }) => [name, value]));
  return query.size ? `${path}?${query}` : path;
}

function content(form) {
  const headers = { Accept: "application/json" };
  for (const { name, value } of inputs(form, "header")) headers[name] = value;
  if (form.dataset.method === "GET") return { headers };
  headers["X-CSRFToken"] = document.querySelector("#csrf [name=csrfmiddlewaretoken]").value;
  const body = form.querySelector("textarea")?.value;
  if (body === undefined) return { headers };
  return { headers: { ...headers, "Content-Type": "application/json" }, body };
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
