// Shows a test case's messages and expectations as rows. The JSON below them is submitted.

import { part, parts } from "../parts.js";

/**
 * @import { Field } from "../parts.js"
 *
 * @typedef {Record<string, any>} Row a message or an expectation
 */

/** @type {Record<string, [title: string, members: [name: string, title: string, form: string][]]>} */
const KINDS = {
  contains: ["The answer contains", [["text", "Text", "area"]]],
  equals: ["The answer equals", [["text", "Text", "area"]]],
  matches: ["The answer matches", [["pattern", "Regular expression", "line"]]],
  schema: ["The answer is JSON that matches a schema", [["schema", "JSON Schema", "json"]]],
  judged: [
    "A model judges the answer",
    [
      ["sentence", "Statement about the answer", "area"],
      ["deployment", "Judging deployment", "line"],
    ],
  ],
  called: [
    "A tool is called",
    [
      ["tool", "Tool name", "line"],
      ["arguments", "With at least these arguments (JSON)", "json?"],
      ["times", "Number of calls (empty: one or more)", "number?"],
    ],
  ],
  not_called: ["A tool is not called", [["tool", "Tool name, or * for all", "line"]]],
  in_order: ["Tools are called in order", [["tools", "Names, one per line", "lines"]]],
  fails: ["The run ends with an error", [["text", "Text of the error (optional)", "line?"]]],
  seconds: ["Maximum duration", [["most", "Seconds", "number"]]],
  tokens: ["Maximum tokens", [["most", "Tokens", "number"]]],
  cost: [
    "Maximum cost",
    [
      ["most", "Amount", "number"],
      ["currency", "Currency", "line"],
    ],
  ],
};
/** @type {Record<string, Row>} */
const FIRST = { cost: { currency: "USD" } };
/** @type {Record<string, unknown>} by the form of a member */
const EMPTY = { json: {}, lines: [], number: 1 };
let last = 0;

for (const place of parts(document, "[data-case-editor]", HTMLElement)) edit(place);

/** @param {HTMLElement} place */
function edit(place) {
  const text = part(place, "textarea", HTMLTextAreaElement);
  const rows = part(place, "[data-rows]", HTMLElement);
  const details = part(place, "[data-text]", HTMLDetailsElement);
  const isMessages = place.dataset.caseEditor === "messages";
  const written = read(text.value);
  if (!written) return; // Text that is not a list is edited as text.
  let values = written;
  details.open = false;
  rows.hidden = false;
  text.addEventListener("input", () => {
    const typed = read(text.value);
    if (typed) {
      values = typed;
      show();
    }
  });
  show();

  function show(focused = -1) {
    const made = values.map((value, index) => (isMessages ? turn(value, index) : expectation(value, index)));
    rows.replaceChildren(...made, adding());
    if (focused >= 0 && rows.children[focused]) parts(rows.children[focused], "textarea, input, select", HTMLElement)[0]?.focus();
  }

  function write() {
    text.value = JSON.stringify(values, null, 2);
  }

  /** @param {Row} value @param {number} index */
  function turn(value, index) {
    const row = group(`Message ${index + 1}`);
    const role = select({ user: "User", assistant: "Application" }, value.role);
    role.addEventListener("change", () => {
      value.role = role.value;
      write();
    });
    row.append(labelled(`Sender of message ${index + 1}`, role, true));
    const area = input("area", value.text ?? "");
    area.addEventListener("input", () => {
      value.text = area.value;
      write();
    });
    row.append(labelled(`Text of message ${index + 1}`, area, true));
    for (const file of value.files ?? []) {
      const line = element("p", "console-quiet", `File: ${file.title || file.url || file.type}`);
      line.append(button("Remove", `Remove the file ${file.title || file.type}`, () => {
        value.files = value.files.filter((/** @type {Row} */ one) => one !== file);
        if (!value.files.length) delete value.files;
        write();
        show(index);
      }));
      row.append(line);
    }
    const chosen = element("input", "case-file");
    chosen.type = "file";
    chosen.addEventListener("change", () => attach(chosen.files?.[0], value, index));
    row.append(labelled(`Add a file to message ${index + 1}`, chosen));
    row.append(removing(index, `message ${index + 1}`));
    return row;
  }

  /** @param {File | undefined} file @param {Row} value @param {number} index */
  async function attach(file, value, index) {
    if (!file) return;
    const isText = /^text\/|json|xml|yaml/.test(file.type);
    const data = isText ? await file.text() : await base64(file);
    const added = { title: file.name, type: file.type || "application/octet-stream", data };
    value.files = [...(value.files ?? []), added];
    write();
    show(index);
  }

  /** @param {Row} value @param {number} index */
  function expectation(value, index) {
    const row = group(`Expectation ${index + 1}`);
    const titles = Object.fromEntries(Object.entries(KINDS).map(([kind, [title]]) => [kind, title]));
    const kind = select(titles, value.kind);
    kind.addEventListener("change", () => {
      values[index] = { kind: kind.value, ...empty(kind.value) };
      write();
      show(index);
    });
    row.append(labelled(`Kind of expectation ${index + 1}`, kind, true));
    for (const [name, title, form] of KINDS[value.kind]?.[1] ?? []) row.append(member(value, name, title, form));
    row.append(removing(index, `expectation ${index + 1}`));
    return row;
  }

  /** @param {Row} value @param {string} name @param {string} title @param {string} form */
  function member(value, name, title, form) {
    const isOptional = form.endsWith("?");
    const kind = form.replace("?", "");
    const field = input(kind, shown(value[name], kind));
    const note = element("p", "console-error");
    note.id = `case-note-${++last}`;
    note.hidden = true;
    field.setAttribute("aria-describedby", note.id);
    field.addEventListener("input", () => {
      const [typed, problem] = parsed(field.value, kind);
      note.textContent = problem;
      note.hidden = !problem;
      field.toggleAttribute("aria-invalid", Boolean(problem));
      if (problem) field.setAttribute("aria-invalid", "true");
      else if (isOptional && (typed === "" || typed === null)) delete value[name];
      else value[name] = typed;
      write();
    });
    const label = labelled(title, field);
    label.append(note);
    return label;
  }

  function adding() {
    const last = values.at(-1);
    const place = element("p", "console-actions");
    place.append(
      button(isMessages ? "Add a message" : "Add an expectation", "", () => {
        const role = last?.role === "user" ? "assistant" : "user";
        values.push(isMessages ? { role, text: "" } : { kind: "contains", text: "" });
        write();
        show(values.length - 1);
      }),
    );
    return place;
  }

  /** @param {number} index @param {string} what */
  function removing(index, what) {
    const remove = button("Remove", `Remove ${what}`, () => {
      values.splice(index, 1);
      write();
      show(Math.min(index, values.length));
    });
    remove.classList.add("case-remove");
    return remove;
  }
}

/** @param {string} text @returns {Row[] | null} */
function read(text) {
  try {
    const found = JSON.parse(text || "[]");
    return Array.isArray(found) && found.every((one) => one && typeof one === "object") ? found : null;
  } catch {
    return null;
  }
}

/** @param {string} kind */
const empty = (kind) =>
  Object.fromEntries(
    KINDS[kind][1]
      .filter(([, , form]) => !form.endsWith("?"))
      .map(([name, , form]) => [name, FIRST[kind]?.[name] ?? EMPTY[form] ?? ""]),
  );

/** @param {unknown} value @param {string} form @returns {string} */
function shown(value, form) {
  if (value === undefined || value === null) return "";
  if (form === "json") return JSON.stringify(value, null, 2);
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** @param {string} text @param {string} form @returns {[value: unknown, problem: string]} */
function parsed(text, form) {
  if (form === "lines") return [text.split("\n").map((line) => line.trim()).filter(Boolean), ""];
  if (form === "number") {
    const number = text.trim() === "" ? null : Number(text);
    return Number.isNaN(number) ? [null, "Enter a number."] : [number, ""];
  }
  if (form !== "json") return [text, ""];
  if (!text.trim()) return [null, ""];
  try {
    const found = JSON.parse(text);
    const isObject = found && typeof found === "object" && !Array.isArray(found);
    return isObject ? [found, ""] : [null, "Enter a JSON object."];
  } catch {
    return [null, "This is not valid JSON, so the last valid value is used."];
  }
}

/** @param {File} file @returns {Promise<string>} */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** @template {keyof HTMLElementTagNameMap} Name @param {Name} tag */
function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** @param {string} name */
function group(name) {
  const row = element("fieldset", "case-row");
  row.append(element("legend", "console-hidden", name));
  return row;
}

/** @param {string} form @param {string} value */
function input(form, value) {
  const isArea = ["area", "json", "lines"].includes(form);
  const field = element(isArea ? "textarea" : "input", form === "json" ? "case-input console-mono" : "case-input");
  if (field instanceof HTMLTextAreaElement) field.rows = form === "json" ? 4 : 2;
  else field.type = "text";
  if (form === "number") field.inputMode = "decimal";
  field.value = value;
  return field;
}

/** @param {Record<string, string>} options @param {string} value */
function select(options, value) {
  const field = element("select", "case-input case-select");
  for (const [name, title] of Object.entries(options)) field.append(new Option(title, name, false, name === value));
  return field;
}

/** @param {string} title @param {Field} field */
function labelled(title, field, isHidden = false) {
  const place = element("div", "case-member");
  const label = element("label", isHidden ? "console-hidden" : "", title);
  field.id = `case-field-${++last}`;
  label.htmlFor = field.id;
  place.append(label, field);
  return place;
}

/** @param {string} text @param {string} name @param {() => void} act */
function button(text, name, act) {
  const made = element("button", "console-button", text);
  made.type = "button";
  if (name) made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  return made;
}
