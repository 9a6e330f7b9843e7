// "Try it" on the API page: sends the form's values, with the user's session.

import { part, parts } from "../parts.js";

for (const form of parts(document, "[data-try]", HTMLFormElement)) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const state = part(form, "[role=status]", HTMLElement);
  const shown = part(form, "pre", HTMLPreElement);
  const button = part(form, "button", HTMLButtonElement);
  const { method } = form.dataset;
  button.disabled = true;
  state.textContent = "Sent …";
  try {
    const answer = await fetch(address(form), { method, ...content(form) });
    const text = await answer.text();
    state.textContent = `${method} ${address(form)} returned ${answer.status} ${answer.statusText}`;
    shown.textContent = readable(text);
    shown.hidden = text === "";
  } catch {
    state.textContent = "The server is unreachable.";
    shown.hidden = true;
  }
  button.disabled = false;
}

/** @param {HTMLFormElement} form @param {string} place */
function inputs(form, place) {
  const all = /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (form.querySelectorAll(`[data-in=${place}]`));
  return [...all].filter((input) => input.value !== "");
}

/** @param {HTMLFormElement} form */
function address(form) {
  let path = form.dataset.path ?? "";
  for (const { name, value } of inputs(form, "path")) {
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams(inputs(form, "query").map(({ name, value }) => [name, value]));
  return query.size ? `${path}?${query}` : path;
}

/** @param {HTMLFormElement} form @returns {RequestInit} */
function content(form) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  for (const { name, value } of inputs(form, "header")) headers[name] = value;
  if (form.dataset.method === "GET") return { headers };
  headers["X-CSRFToken"] = part(document, "#csrf [name=csrfmiddlewaretoken]", HTMLInputElement).value;
  const body = form.querySelector("textarea")?.value;
  if (body === undefined) return { headers };
  return { headers: { ...headers, "Content-Type": "application/json" }, body };
}

/** @param {string} text */
function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
