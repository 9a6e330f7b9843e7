// Elements of the page, and the fields that are bound to a path of the document.

let count = 0;

export const newId = (stem = "studio") => `${stem}-${(count += 1)}`;

// An element with properties; `class`, `data-…`, `aria-…` and other attributes by their names.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.includes("-")) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", class: "workbench-button", onclick, ...properties }, text);

export const link = (text, href, properties = {}) => element("a", { href, ...properties }, text);

export const paragraph = (...children) => element("p", {}, ...children);

export const quiet = (...children) => element("p", { class: "studio-quiet" }, ...children);

// A field: label, control, help, its place in the manifest, and what was found there.
export function field(store, { label, path, help, control, findingsPath = path, isExact = false }) {
  const id = control.id || newId("field");
  control.id = id;
  const notes = element("div", { class: "studio-findings", id: `${id}-findings`, "aria-live": "polite" });
  const about = element("p", { class: "studio-help", id: `${id}-help` }, help ?? "");
  about.hidden = !help;
  control.setAttribute("aria-describedby", `${id}-help ${id}-findings`);
  const box = element(
    "div",
    { class: "studio-field" },
    element(
      "div",
      { class: "studio-label" },
      element("label", { htmlFor: id }, label),
      path ? element("code", { class: "studio-path", title: "Its place in the manifest" }, path) : "",
    ),
    control,
    about,
    notes,
  );
  const show = () => {
    const found = findingsPath ? store.findingsAt(findingsPath, isExact) : [];
    const typed = numberProblem(control);
    notes.replaceChildren(...[...(typed ? [{ severity: "warning", path: findingsPath, message: typed }] : []), ...found].map((one) => findingNote(one, findingsPath)));
    if (found.some(({ severity }) => severity === "error")) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  store.subscribe((what) => what === "findings" && show(), box);
  if (control.type === "number") control.addEventListener("input", show);
  show();
  return box;
}

// What the browser finds wrong with a typed number; the server lets models have ranges of their own.
function numberProblem({ type, validity, min, max }) {
  if (type !== "number" || validity.valid) return "";
  if (validity.badInput) return "this is no number; it is left out.";
  if (validity.stepMismatch) return "this is between two of the usual values.";
  return max === "" ? `the least is ${min}.` : `the usual values are from ${min} to ${max}.`;
}

function findingNote({ severity, path, message }, own) {
  const word = severity === "error" ? "Mistake: " : "Warning: ";
  const text = path === own ? message : `${path}: ${message}`;
  return element(
    "p",
    { class: `studio-finding studio-${severity}` },
    element("strong", {}, word),
    text,
  );
}

// What was found at a path and, unless `isExact`, below it, for parts without a field of their own.
export function findings(store, path, isExact = false) {
  const notes = element("div", { class: "studio-findings", "aria-live": "polite" });
  const show = () => notes.replaceChildren(...store.findingsAt(path, isExact).map((one) => findingNote(one, path)));
  store.subscribe((what) => what === "findings" && show(), notes);
  show();
  return notes;
}

// A text of one line, or of several with `rows`. An empty one is `empty` in the document.
export function textField(store, { path, rows, placeholder, empty = undefined, list, type, ...rest }) {
  const control = element(rows ? "textarea" : "input", {
    value: store.get(path) ?? "",
    rows,
    placeholder,
    type: rows ? undefined : (type ?? "text"),
    autocomplete: "off",
    spellcheck: Boolean(rows),
  });
  if (list) control.setAttribute("list", list);
  control.addEventListener("input", () => store.change(path, control.value === "" ? empty : control.value));
  return field(store, { path, control, ...rest });
}

// A number; an empty field removes it, so that the default holds.
export function numberField(store, { path, min, max, step = "any", placeholder, ...rest }) {
  const value = store.get(path);
  const control = element("input", { type: "number", min, max, step, placeholder, value: value ?? "" });
  control.addEventListener("input", () =>
    store.change(path, control.value === "" ? undefined : Number(control.value)),
  );
  return field(store, { path, control, ...rest });
}

// One of `options`, each `[value, text]`; the value "" removes it from the document.
export function selectField(store, { path, options, onchange, ...rest }) {
  const value = store.get(path) ?? "";
  const known = options.some(([one]) => one === value);
  const control = element(
    "select",
    {},
    ...(known ? options : [[value, `${value} (not known here)`], ...options]).map(([one, text]) =>
      element("option", { value: one, selected: one === value }, text),
    ),
  );
  control.addEventListener("change", () => {
    store.change(path, control.value === "" ? undefined : control.value);
    onchange?.(control.value);
  });
  return field(store, { path, control, ...rest });
}

// A switch: `on` is what the document gets for it, `off` what for its absence; `isOn` reads the value.
export function switchField(store, { path, label, help, on = true, off = undefined, isOn, children }) {
  const read = isOn ?? ((value) => Boolean(value));
  const id = newId("switch");
  const control = element("input", {
    type: "checkbox",
    role: "switch",
    id,
    checked: read(store.get(path)),
  });
  const inner = element("div", { class: "studio-inner" });
  const fill = () => inner.replaceChildren(...(control.checked && children ? children() : []));
  control.addEventListener("change", () => {
    store.change(path, structuredClone(control.checked ? on : off));
    fill();
  });
  control.setAttribute("aria-describedby", `${id}-help`);
  fill();
  return element(
    "div",
    { class: "studio-switch" },
    control,
    element(
      "div",
      {},
      element(
        "div",
        { class: "studio-label" },
        element("label", { htmlFor: id }, label),
        element("code", { class: "studio-path" }, path),
      ),
      element("p", { class: "studio-help", id: `${id}-help` }, help),
      children ? inner : findings(store, path),
    ),
  );
}

// Texts of a list, one a line. An empty list is `empty` in the document.
export function linesField(store, { path, empty = undefined, rows = 3, placeholder, ...rest }) {
  const control = element("textarea", {
    rows,
    placeholder,
    value: (store.get(path) ?? []).join("\n"),
    spellcheck: false,
  });
  control.addEventListener("input", () => {
    const lines = control.value.split("\n").map((line) => line.trim()).filter(Boolean);
    store.change(path, lines.length ? lines : empty);
  });
  return field(store, { path, control, ...rest });
}

export const group = (title, ...children) =>
  element("section", { class: "studio-group" }, title ? element("h3", {}, title) : "", ...children);

// A section that is drawn from what there is to choose: `parts(store, choices, redraw)` are its elements.
export const withChoices = (parts) =>
  async function render(container, store) {
    const choices = await store.choices();
    if (!container.isConnected) return;
    const redraw = () => container.replaceChildren(...parts(store, choices, redraw).filter(Boolean));
    redraw();
  };
