// The files of a skill: added, taken from this computer, renamed and removed without a reload.
// The server checks them again; what is told here is told sooner.

const place = document.querySelector("[data-skill-files]");
if (place) {
  const list = place.querySelector("[data-files]");
  const blank = place.querySelector("template").content;
  const none = place.querySelector("[data-none]");
  const status = place.querySelector("[data-status]");
  const undo = place.querySelector("[data-undo]");
  const picker = place.querySelector("input[type=file]");
  const { mostFiles, mostBytes, mostTogether, endings } = place.dataset;
  const encoder = new TextEncoder();
  const told = new Map(); // what was typed when the server said what is wrong with a file
  let made = 0;
  let removed = null;

  place.querySelector("[data-actions]").hidden = false;
  for (const file of files()) {
    prepare(file);
    if (file.querySelector("[data-problem]").textContent) told.set(file, typed(file));
  }
  refresh();

  place.querySelector("[data-add]").addEventListener("click", () => {
    const file = add("", "");
    pathOf(file).focus();
    refresh();
  });
  // Before the theme hears of it, which would write the file's name into the first path.
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
    if (event.target.matches("[data-remove]")) remove(event.target.closest("[data-file]"));
  });
  undo.addEventListener("click", () => {
    list.insertBefore(removed.file, removed.before);
    pathOf(removed.file).focus();
    forget();
    refresh();
  });
  // The server would refuse the whole request, and what was typed would be gone from the page.
  place.closest("form").addEventListener("submit", (event) => {
    const skill = event.target.querySelector("textarea[name=text]");
    const size = [skill, ...files().map(textOf)]
      .map((field) => encoder.encode(field.value).length)
      .reduce((sum, one) => sum + one, 0);
    if (size <= mostTogether) return;
    event.preventDefault();
    forget();
    status.textContent = `Nothing was saved: SKILL.md and its files have ${counted(size)} bytes together; at most ${counted(mostTogether)} are possible.`;
    place.querySelector("[data-add]").focus();
  });
  showForKind();

  function files() {
    return [...list.querySelectorAll("[data-file]")];
  }

  function pathOf(file) {
    return file.querySelector("input");
  }

  function textOf(file) {
    return file.querySelector("textarea");
  }

  function typed(file) {
    return JSON.stringify([files().map((one) => pathOf(one).value), textOf(file).value]);
  }

  function prepare(file) {
    file.querySelector("[data-remove]").hidden = false;
  }

  function add(path, text) {
    const file = blank.cloneNode(true).querySelector("[data-file]");
    const problem = file.querySelector("[data-problem]");
    made += 1;
    problem.id = `new-file-${made}-problem`;
    pathOf(file).setAttribute("aria-describedby", problem.id);
    pathOf(file).value = path;
    textOf(file).value = text;
    prepare(file);
    list.append(file);
    return file;
  }

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

  // Each file is read as text; what is none is told and left out.
  async function take() {
    const outcomes = [];
    for (const chosen of picker.files) {
      const same = files().find((file) => pathOf(file).value.trim() === chosen.name);
      try {
        if (chosen.size > mostBytes) throw new Error(tooLarge(chosen.size));
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
        if (same) textOf(same).value = text;
        else add(chosen.name, text);
        outcomes.push(`${chosen.name} was ${same ? "replaced" : "added"}.`);
      } catch (error) {
        const why = error instanceof TypeError ? "is not UTF-8 text" : error.message;
        outcomes.push(`${chosen.name} ${why}, and was left out.`);
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
    all.forEach((file, index) => show(file, paths[index], paths));
    none.hidden = all.length > 0;
  }

  function show(file, path, paths) {
    const size = encoder.encode(textOf(file).value).length;
    const wrong = problem(path, size, paths);
    file.querySelector("[data-shown]").textContent = path || "a new file";
    file.querySelector("[data-size]").textContent = `${counted(size)} bytes`;
    if (told.has(file) && told.get(file) === typed(file)) return;
    told.delete(file);
    file.querySelector("[data-problem]").textContent = wrong ? `${path}: ${wrong}.` : "";
    if (wrong) pathOf(file).setAttribute("aria-invalid", "true");
    else pathOf(file).removeAttribute("aria-invalid");
  }

  function problem(path, size, paths) {
    if (paths.length > mostFiles) return `is one of ${paths.length} files; at most ${mostFiles} are possible`;
    if (size > mostBytes) return tooLarge(size);
    if (path && paths.filter((other) => other === path).length > 1) return "is there twice";
    const ending = path.slice(path.lastIndexOf(".")).toLowerCase();
    if (path.includes(".") && !endings.split(" ").includes(ending)) {
      return `has none of the possible endings: ${endings}`;
    }
    return "";
  }

  function tooLarge(size) {
    return `has ${counted(size)} bytes; at most ${counted(mostBytes)} are possible`;
  }

  function counted(number) {
    return Number(number).toLocaleString("en");
  }

  // Only skills have files. What was typed stays, should the kind be chosen again.
  function showForKind() {
    const kind = document.querySelector("select[name=kind]");
    const row = place.closest(".form-row, .field-line") ?? place;
    if (!kind) return;
    const follow = () => {
      row.hidden = kind.value !== "skill" && files().length === 0;
    };
    kind.addEventListener("change", follow);
    follow();
  }
}
