// The fallbacks of a deployment as a list in their order, in place of lines of text.

const place = document.querySelector("[data-fallbacks]");
if (place) {
  const lines = place.querySelector("textarea");
  const list = place.querySelector("ol");
  const search = place.querySelector("input");
  const status = place.querySelector("[role=status]");
  const blank = place.querySelector("template").content.firstElementChild;
  const known = [...place.querySelectorAll("option")].map((option) => ({
    id: option.value,
    title: option.dataset.title,
    problem: option.dataset.problem,
  }));

  lines.hidden = true;
  place.querySelector("[data-choice]").hidden = false;
  // The field's label names what is typed into now.
  search.id = lines.id;
  lines.removeAttribute("id");
  show(chosen());

  place.querySelector("[data-add]").addEventListener("click", add);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // or the whole form is sent
    add();
  });
  // What is typed and not added yet is meant, too.
  place.closest("form").addEventListener("submit", (event) => {
    if (search.value.trim()) add();
    if (search.value) event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) change(button, [...list.children].indexOf(button.closest("li")));
  });

  function chosen() {
    return lines.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  }

  function show(ids) {
    list.replaceChildren(...ids.map((id, index) => entry(id, index, ids.length)));
    const text = ids.join("\n");
    if (text === chosen().join("\n")) return;
    lines.value = text;
    lines.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function entry(id, index, count) {
    const found = known.find((one) => one.id === id) ?? { title: id, problem: "skipped: it cannot be chosen" };
    const item = blank.cloneNode(true);
    item.querySelector("[data-title]").textContent = found.title;
    item.querySelector("[data-id]").textContent = id;
    item.querySelector("[data-problem]").textContent = found.problem;
    const [up, down, remove] = item.querySelectorAll("button");
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
      status.textContent = "Type the name or the ID of a deployment.";
    } else if (!found) {
      status.textContent = `There is no chat model ${typed} that can be chosen.`;
    } else if (chosen().includes(found.id)) {
      status.textContent = `${found.title} is in the list already.`;
    } else {
      show([...chosen(), found.id]);
      status.textContent = `${found.title} is number ${list.children.length} now.`;
      search.value = "";
    }
    search.focus();
  }

  function change(button, index) {
    const ids = chosen();
    const [id] = ids.splice(index, 1);
    const title = list.children[index].querySelector("[data-title]").textContent;
    if (button.dataset.move) {
      const next = index + Number(button.dataset.move);
      ids.splice(next, 0, id);
      show(ids);
      status.textContent = `${title} is number ${next + 1} now.`;
      const same = list.children[next].querySelector(`[data-move="${button.dataset.move}"]`);
      (same.disabled ? list.children[next].querySelector("button:not(:disabled)") : same).focus();
      return;
    }
    show(ids);
    status.textContent = `${title} is removed.`;
    (list.children[Math.min(index, ids.length - 1)]?.querySelector("[data-remove]") ?? search).focus();
  }
}
