/** Selects of named things, such as apps and teams, become choice lists. Without scripts, they stay selects. */

import { ChoiceList } from "./choice-list.js";
import { showError } from "./field-errors.js";

/** Replaces each `<select data-picker>`. The `data-detail` of an option is its description, and its `data-title` is its title below the label of its `<optgroup>`. */
export function offerChoiceFields() {
  for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (document.querySelectorAll("select[data-picker]"))) offerChoices(select, select.labels[0]);
}

/**
 * Replaces a select with a choice list, which follows later changes of its options. Returns the list.
 * @param {HTMLSelectElement} select keeps its value and is sent with the form @param {HTMLLabelElement | null | undefined} label
 */
export function offerChoices(select, label) {
  const list = new ChoiceList();
  list.className = "choice-field";
  list.label = label?.textContent?.trim() ?? "";
  const read = () => {
    const options = [...select.options].map(choiceOf);
    list.options = select.required ? options.filter(({ value }) => value) : options;
    list.value = select.value;
    list.words = select.selectedOptions[0]?.text ?? "";
    list.disabled = select.disabled;
    list.hint = select.getAttribute("aria-describedby") ?? "";
  };
  read();
  select.addEventListener("change", read);
  select.form?.addEventListener("saved", read); // Undo changes the value without an event.
  new MutationObserver(read).observe(select, { attributeFilter: ["disabled", "aria-describedby"], childList: true });
  select.hidden = true;
  select.after(list);
  label?.addEventListener("click", () => list.focus());
  select.addEventListener("invalid", (event) => {
    event.preventDefault();
    showError(select, list);
  });
  list.addEventListener("chosen", (event) => {
    select.value = /** @type {CustomEvent<string>} */ (event).detail;
    for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
  });
  return list;
}

/** @param {HTMLOptionElement} option @returns {import("./choice-list.js").ChoiceOption} */
function choiceOf({ value, text, dataset: { title, detail }, parentElement }) {
  if (!title) return { value, title: text, detail };
  return { value, title, detail, name: text, group: parentElement instanceof HTMLOptGroupElement ? parentElement.label : "" };
}
