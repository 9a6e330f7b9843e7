// Adds, uploads, renames and removes the files of a skill without a reload.
// The server checks them again; these checks only report problems earlier.

import { part, parts, reasonOf } from "../parts.js";

const place = document.querySelector("[data-skill-files]");
if (place instanceof HTMLElement) follow(place);

/** @param {HTMLElement} place */
function follow(place) {
  const list = part(place, "[data-files]", HTMLElement);
  const blank = part(part(place, "template", HTMLTemplateElement).content, "[data-file]", HTMLElement);
  const none = part(place, "[data-none]", HTMLElement);
  const status = part(place, "[data-status]", HTMLElement);
  const undo = part(place, "[data-undo]", HTMLButtonElement);
  const picker = part(place, "input[type=file]", HTMLInputElement);
  const mostFiles = Number(place.dataset.mostFiles);
  const mostBytes = Number(place.dataset.mostBytes);
  const mostTogether = Number(place.dataset.mostTogether);
  const endings = place.dataset.endings ?? "";
  const encoder = new TextEncoder();
  /** @type {Map<Element, string>} the text of a file when the server reported a problem with it */
  const told = new Map();
  let made = 0;
  /** @type {{file: Element, before: Element | null} | null} */
  let removed = null;

  part(place, "[data-actions]", HTMLElement).hidden = false;
  for (const file of files()) {
    prepare(file);
    if (part(file, "[data-problem]", HTMLElement).textContent) told.set(file, typed(file));
  }
  refresh();

  part(place, "[data-add]", HTMLButtonElement).addEventListener("click", () => {
    const file = add("", "");
    pathOf(file).focus();
    refresh();
  });
  // Runs before the theme's handler, which would write the file name into the first path.
  place.addEventListener(
    "change",
    (event) => {
      if (event.target !== picker) return;
      event.stopPropagation();
      take();
    },
    true,
  );
  list.addEventListener("input", refresh);
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-remove]") : null;
    const file = button?.closest("[data-file]");
    if (file) remove(file);
  });
  undo.addEventListener("click", () => {
    if (!removed) return;
    list.insertBefore(removed.file, removed.before);
    pathOf(removed.file).focus();
    forget();
    refresh();
  });
  // The server would reject the whole request, and the typed text would be lost.
  const form = place.closest("form");
  form?.addEventListener("submit", (event) => {
    const skill = part(form, "textarea[name=text]", HTMLTextAreaElement);
    const size = [skill, ...files().map(textOf)]
      .map((field) => encoder.encode(field.value).length)
      .reduce((sum, one) => sum + one, 0);
    if (size <= mostTogether) return;
    event.preventDefault();
    forget();
    status.textContent = `Nothing was saved: SKILL.md and its files are ${counted(size)} bytes in total; the limit is ${counted(mostTogether)}.`;
    part(place, "[data-add]", HTMLButtonElement).focus();
  });
  showForKind();

  function files() {
    return parts(list, "[data-file]", HTMLElement);
  }

  /** @param {Element} file */
  function pathOf(file) {
    return part(file, "input", HTMLInputElement);
  }

  /** @param {Element} file */
  function textOf(file) {
    return part(file, "textarea", HTMLTextAreaElement);
  }

  /** @param {Element} file */
  function typed(file) {
    return JSON.stringify([files().map((one) => pathOf(one).value), textOf(file).value]);
  }

  /** @param {Element} file */
  function prepare(file) {
    part(file, "[data-remove]", HTMLButtonElement).hidden = false;
  }

  /** @param {string} path @param {string} text */
  function add(path, text) {
    const file = /** @type {HTMLElement} */ (blank.cloneNode(true));
    const problem = part(file, "[data-problem]", HTMLElement);
    made += 1;
    problem.id = `new-file-${made}-problem`;
    pathOf(file).setAttribute("aria-describedby", problem.id);
    pathOf(file).value = path;
    textOf(file).value = text;
    prepare(file);
    list.append(file);
    return file;
  }

  /** @param {Element} file */
  function remove(file) {
    const before = file.nextElementSibling;
    removed = { file, before };
    file.remove();
    refresh();
    status.textContent = `Removed ${pathOf(file).value || "a file"}.`;
    undo.hidden = false;
    undo.focus();
  }

  function forget() {
    removed = null;
    undo.hidden = true;
    status.textContent = "";
  }

  // Each file is read as text; other files are skipped, with a message.
  async function take() {
    const outcomes = [];
    for (const chosen of picker.files ?? []) {
      const same = files().find((file) => pathOf(file).value.trim() === chosen.name);
      try {
        if (chosen.size > mostBytes) throw new Error(tooLarge(chosen.size));
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
        if (same) textOf(same).value = text;
        else add(chosen.name, text);
        outcomes.push(`${chosen.name} was ${same ? "replaced" : "added"}.`);
      } catch (error) {
        const why = error instanceof TypeError ? "is not UTF-8 text" : reasonOf(error);
        outcomes.push(`${chosen.name} ${why}, and was not added.`);
      }
    }
    picker.value = "";
    forget();
    refresh();
    status.textContent = outcomes.join(" ");
  }

  function refresh() {
    const all = files();
    const paths = all.map((file) => pathOf(file).value.trim());
    for (const [index, file] of all.entries()) show(file, paths[index], paths);
    none.hidden = all.length > 0;
  }

  /** @param {Element} file @param {string} path @param {string[]} paths */
  function show(file, path, paths) {
    const size = encoder.encode(textOf(file).value).length;
    const wrong = problem(path, size, paths);
    part(file, "[data-shown]", HTMLElement).textContent = path || "a new file";
    part(file, "[data-size]", HTMLElement).textContent = `${counted(size)} bytes`;
    if (told.has(file) && told.get(file) === typed(file)) return;
    told.delete(file);
    part(file, "[data-problem]", HTMLElement).textContent = wrong ? `${path}: ${wrong}.` : "";
    if (wrong) pathOf(file).setAttribute("aria-invalid", "true");
    else pathOf(file).removeAttribute("aria-invalid");
  }

  /** @param {string} path @param {number} size @param {string[]} paths */
  function problem(path, size, paths) {
    if (paths.length > mostFiles) return `is one of ${paths.length} files; the limit is ${mostFiles}`;
    if (size > mostBytes) return tooLarge(size);
    if (path && paths.filter((other) => other === path).length > 1) return "occurs twice";
    const ending = path.slice(path.lastIndexOf(".")).toLowerCase();
    if (path.includes(".") && !endings.split(" ").includes(ending)) {
      return `must end with one of ${endings}`;
    }
    return "";
  }

  /** @param {number} size */
  function tooLarge(size) {
    return `is ${counted(size)} bytes; the limit is ${counted(mostBytes)}`;
  }

  /** @param {number} number */
  function counted(number) {
    return number.toLocaleString("en");
  }

  // Only skills have files. Typed text is preserved in case the kind is selected again.
  function showForKind() {
    const kind = document.querySelector("select[name=kind]");
    const row = place.closest(".form-row, .field-line") ?? place;
    if (!(kind instanceof HTMLSelectElement) || !(row instanceof HTMLElement)) return;
    const show = () => {
      row.hidden = kind.value !== "skill" && files().length === 0;
    };
    kind.addEventListener("change", show);
    show();
  }
}
