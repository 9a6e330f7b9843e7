// The form for the arguments of a tool: it calls the tool, and shows the report beside it.

// Markdown as the chat page shows it. What stands there before is the same text, unformatted.
export async function render(place) {
  const texts = place.querySelectorAll("pre[data-markdown]");
  if (!texts.length) return;
  await import("../chat/scripts/markdown.js");
  for (const text of texts) {
    const shown = document.createElement("markdown-text");
    shown.text = text.textContent;
    shown.complete = true;
    text.replaceWith(shown);
  }
}

// `call(signal)` sends what the form holds; the report is put into `outcome`.
export function tryOut(form, outcome, call) {
  const status = form.querySelector("[data-status]");
  const button = form.querySelector("[type=submit]");
  const stop = form.querySelector("[data-stop]");
  const json = form.querySelector("[name=json]");
  let asked = null;

  form.addEventListener("change", ({ target }) => {
    if (target.name === "mode" && target.value === "json") json.value = written(form) ?? json.value;
  });
  stop.addEventListener("click", () => asked?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    asked = new AbortController();
    button.disabled = true;
    stop.hidden = false;
    const started = performance.now();
    const seconds = () => ((performance.now() - started) / 1000).toFixed(0);
    status.textContent = "Calling…";
    const clock = setInterval(() => {
      if (seconds() % 5 === 0) status.textContent = `Calling… ${seconds()} s`;
    }, 1000);
    try {
      const response = await call(asked.signal);
      if (!response.ok) throw new Error(`The call could not be made (status ${response.status}).`);
      outcome.innerHTML = await response.text();
      status.textContent = "";
      mark(form, outcome);
      await render(outcome);
      outcome.querySelector("[data-result]")?.focus();
    } catch (error) {
      status.textContent =
        error.name === "AbortError"
          ? "Stopped. What the tool had done until then stays done."
          : told(error);
    } finally {
      clearInterval(clock);
      button.disabled = false;
      stop.hidden = true;
    }
  });
}

const told = (error) =>
  error instanceof TypeError
    ? "This server cannot be reached, or you are signed out. Reload the page."
    : error.message;

// Say at each field what is wrong with it.
function mark(form, outcome) {
  for (const note of form.querySelectorAll(".workbench-error")) note.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const mistake of outcome.querySelectorAll("[data-mistake]")) {
    const name = mistake.dataset.mistake;
    const place = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
    const input = place?.querySelector("input, select, textarea");
    if (!input) continue;
    const note = document.createElement("p");
    note.id = `${input.id}-error`;
    note.className = "workbench-error";
    note.textContent = mistake.querySelector("span").textContent;
    input.after(note);
    input.setAttribute("aria-invalid", "true");
    const help = input.getAttribute("aria-describedby").split(" ")[0];
    input.setAttribute("aria-describedby", `${help} ${note.id}`);
  }
}

// The fields as JSON; null when one of them cannot be read.
function written(form) {
  const found = {};
  for (const field of form.querySelectorAll("[data-field]")) {
    const { kind, field: name } = field.dataset;
    const fixed = field.querySelector("[data-fixed]");
    const text = fixed ? fixed.textContent : field.querySelector("input, select, textarea").value;
    if (!text.trim() || fixed?.dataset.fixed === "tool") continue;
    if (kind === "text") {
      found[name] = text;
      continue;
    }
    try {
      found[name] = JSON.parse(text);
    } catch {
      return null;
    }
  }
  return JSON.stringify(found, null, 2);
}
