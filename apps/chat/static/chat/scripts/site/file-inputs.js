/** Shows the names of the chosen files in the inputs for files. */

/** @type {WeakMap<Element, string>} the text while no file is chosen */
const without = new WeakMap();

/** @param {EventTarget | null} input */
function showNames(input) {
  if (!(input instanceof HTMLInputElement) || input.type !== "file") return;
  const box = input.closest(".file-input");
  const name = box?.querySelector(".file-name");
  if (!box || !name) return;
  if (!without.has(name)) without.set(name, name.textContent ?? "");
  const chosen = Array.from(input.files ?? [], (file) => file.name).join(", ");
  name.textContent = chosen || (without.get(name) ?? "");
  box.classList.toggle("has-file", chosen !== "");
}

function showAll() {
  for (const input of document.querySelectorAll(".file-input > input")) showNames(input);
}

document.addEventListener("change", ({ target }) => showNames(target));
// The files are cleared after the event.
document.addEventListener("reset", () => setTimeout(showAll));
addEventListener("pageshow", showAll);
