// A deployment's fallbacks as an ordered list, instead of lines of text.

import { part, parts } from "../parts.js";

const place = document.querySelector("[data-fallbacks]");
if (place) {
  const lines = part(place, "textarea", HTMLTextAreaElement);
  const list = part(place, "ol", HTMLOListElement);
  const search = part(place, "input", HTMLInputElement);
  const status = part(place, "[role=status]", HTMLElement);
  const blank = part(part(place, "template", HTMLTemplateElement).content, "li", HTMLLIElement);
  const known = [...place.querySelectorAll("option")].map((option) => ({
    id: option.value,
    title: option.dataset.title ?? "",
    problem: option.dataset.problem ?? "",
  }));

  lines.hidden = true;
  part(place, "[data-choice]", HTMLElement).hidden = false;
  // The field's label now names the search field.
  search.id = lines.id;
  lines.removeAttribute("id");
  show(chosen());

  part(place, "[data-add]", HTMLButtonElement).addEventListener("click", add);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // Otherwise, the whole form would be submitted.
    add();
  });
  // A typed fallback that was not added is also included.
  place.closest("form")?.addEventListener("submit", (event) => {
    if (search.value.trim()) add();
    if (search.value) event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const item = button?.closest("li");
    if (button && item) change(button, [...list.children].indexOf(item));
  });

  function chosen() {
    return lines.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  }

  /** @param {string[]} ids */
  function show(ids) {
    list.replaceChildren(...ids.map((id, index) => entry(id, index, ids.length)));
    const text = ids.join("\n");
    if (text === chosen().join("\n")) return;
    lines.value = text;
    lines.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** @param {string} id @param {number} index @param {number} count */
  function entry(id, index, count) {
    const found = known.find((one) => one.id === id) ?? { title: id, problem: "skipped: not available" };
    const item = /** @type {HTMLLIElement} */ (blank.cloneNode(true));
    part(item, "[data-title]", HTMLElement).textContent = found.title;
    part(item, "[data-id]", HTMLElement).textContent = id;
    part(item, "[data-problem]", HTMLElement).textContent = found.problem;
    const [up, down, remove] = parts(item, "button", HTMLButtonElement);
    up.ariaLabel = `Move ${found.title} up`;
    up.disabled = index === 0;
    down.ariaLabel = `Move ${found.title} down`;
    down.disabled = index === count - 1;
    remove.ariaLabel = `Remove ${found.title}`;
    return item;
  }

  function add() {
    const typed = search.value.trim();
    const words = typed.toLowerCase();
    const found = known.find((one) => one.id === typed) ?? known.find((one) => one.title.toLowerCase() === words);
    if (!typed) {
      status.textContent = "Enter the name or ID of a deployment.";
    } else if (!found) {
      status.textContent = `Unknown chat model: ${typed}.`;
    } else if (chosen().includes(found.id)) {
      status.textContent = `${found.title} is already in the list.`;
    } else {
      show([...chosen(), found.id]);
      status.textContent = `${found.title} is now number ${list.children.length}.`;
      search.value = "";
    }
    search.focus();
  }

  /** @param {HTMLButtonElement} button @param {number} index */
  function change(button, index) {
    const ids = chosen();
    const [id] = ids.splice(index, 1);
    const title = part(list.children[index], "[data-title]", HTMLElement).textContent;
    if (button.dataset.move) {
      const next = index + Number(button.dataset.move);
      ids.splice(next, 0, id);
      show(ids);
      status.textContent = `${title} is now number ${next + 1}.`;
      const same = part(list.children[next], `[data-move="${button.dataset.move}"]`, HTMLButtonElement);
      (same.disabled ? part(list.children[next], "button:not(:disabled)", HTMLButtonElement) : same).focus();
      return;
    }
    show(ids);
    status.textContent = `${title} was removed.`;
    (parts(list, "[data-remove]", HTMLButtonElement)[Math.min(index, ids.length - 1)] ?? search).focus();
  }
}
