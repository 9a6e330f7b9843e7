// Shows what belongs to the chosen beginning, and the name in addresses that the title will make.

const form = document.querySelector("[data-new]");

function showChosen() {
  const chosen = form.querySelector("[name=start]:checked")?.value;
  for (const part of form.querySelectorAll("[data-start]")) part.hidden = part.dataset.start !== chosen;
}

const slugOf = (title) =>
  title
    .normalize("NFKD")
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[-\s_]+/g, "-")
    .slice(0, 40);

form.addEventListener("change", showChosen);
const title = form.querySelector("[name=title]");
title.addEventListener("input", () => {
  form.querySelector("[name=slug]").placeholder = slugOf(title.value);
});
showChosen();
