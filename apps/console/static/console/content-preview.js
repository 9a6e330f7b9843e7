// The button that shows what a typed item comes to, without saving it.

const place = document.querySelector("[data-content-preview]");
if (place) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  const problems = place.querySelector("[data-problems]");
  const blocks = place.querySelector("[data-blocks]");
  const doubts = document.querySelector("[data-content-doubts]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "Checking…";
    const body = new FormData(place.closest("form"));
    if (place.dataset.kind) {
      body.set("kind", place.dataset.kind);
      body.set("name", place.dataset.name);
    }
    try {
      const response = await fetch(place.dataset.url, { method: "POST", body });
      if (!response.ok) throw new Error(`status ${response.status}`);
      show(await response.json());
    } catch (error) {
      show({ problems: [], blocks: [] });
      status.textContent = `It could not be checked (${error.message}).`;
    }
    button.disabled = false;
  });

  function show(found) {
    problems.replaceChildren(...found.problems.map((text) => element("li", text)));
    blocks.replaceChildren(...found.blocks.flatMap(parts));
    if (found.doubts) {
      doubts.hidden = found.doubts.length === 0;
      doubts.querySelector("ul").replaceChildren(...found.doubts.map(doubtful));
    }
    const count = found.problems.length;
    status.textContent = count
      ? `${count} ${count === 1 ? "mistake" : "mistakes"} found.`
      : "No mistakes found.";
  }

  function parts({ title, text }) {
    const code = element("pre", text);
    code.className = "workbench-code";
    code.tabIndex = 0;
    code.setAttribute("aria-label", title);
    return [element("h3", title), code];
  }

  function doubtful({ path, message }) {
    const item = document.createElement("li");
    item.append(element("code", path), ` ${message}`);
    return item;
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }
}
