/** The page's built-in tools: they describe the page and fill in fields. */

/** @import { PageTools } from "./tools.js" */
/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

const MOST_FIELDS = 100;
const LONGEST_VALUE = 10_000;
/** Input types with values that only the user may see or choose. */
const PRIVATE = new Set(["password", "hidden", "file"]);

/**
 * Only elements with `data-tool-field="name"` are exposed; nothing else on the page is read.
 * @param {PageTools} tools
 * @param {() => Record<string, unknown>} about the values that the page publishes
 * @param {(label: string, undo: () => void) => void} tell informs the user that a field was filled in
 */
export function offerFields(tools, about, tell) {
  tools.register({
    name: "_platform.inspect_page",
    run: () => ({
      ...about(),
      fields: shownFields().map(describe),
      selection: String(getSelection()).slice(0, LONGEST_VALUE),
      actions: tools.names,
    }),
  });
  tools.register({
    name: "_platform.set_field",
    run: ({ field, value }) => {
      const found = shownFields().find((one) => one.dataset.toolField === field);
      if (!found) throw new Error(`There is no field ${field}. There are: ${shownFields().map(nameOf).join(", ")}`);
      if (isFixed(found)) throw new Error(`The field ${field} cannot be changed now.`);
      const before = valueOf(found);
      write(found, value);
      tell(labelOf(found), () => {
        write(found, before);
        found.focus();
      });
      return { field, value: valueOf(found) };
    },
  });
}

/** @returns {Field[]} */
function shownFields() {
  const marked = [...document.querySelectorAll("[data-tool-field]")];
  return marked.filter(isField).slice(0, MOST_FIELDS);
}

/** @param {Element} element @returns {element is Field} */
function isField(element) {
  if (element instanceof HTMLInputElement) return !PRIVATE.has(element.type) && element.type !== "radio";
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
}

/** @param {Field} field */
function describe(field) {
  const value = valueOf(field).slice(0, LONGEST_VALUE);
  const options = field instanceof HTMLSelectElement ? { options: [...field.options].map((one) => one.value) } : {};
  return { name: nameOf(field), label: labelOf(field), value, ...options, can_be_changed: !isFixed(field) };
}

/** @param {Field} field */
function isFixed(field) {
  return field.disabled || (!(field instanceof HTMLSelectElement) && field.readOnly);
}

/** @param {Field} field */
function nameOf(field) {
  return field.dataset.toolField ?? "";
}

/** @param {Field} field */
function labelOf(field) {
  const [label] = field.labels ?? [];
  return (label?.textContent ?? field.getAttribute("aria-label") ?? nameOf(field)).trim();
}

/** @param {Field} field @returns {string} of a box that can be checked `true` or `false` */
function valueOf(field) {
  return isBox(field) ? String(field.checked) : field.value;
}

/** @param {Field} field @param {string} value */
function write(field, value) {
  if (field instanceof HTMLSelectElement && ![...field.options].some((one) => one.value === value))
    throw new Error(`“${value}” is none of the options.`);
  if (isBox(field)) field.checked = value === "true";
  else field.value = value;
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
}

/** @param {Field} field @returns {field is HTMLInputElement} */
function isBox(field) {
  return field instanceof HTMLInputElement && field.type === "checkbox";
}
