// Closes an open list of values (`.console-choice`) on Escape and on a click outside.

const open = () => document.querySelector(".console-choice[open]");

document.addEventListener("click", ({ target }) => {
  const list = open();
  if (list instanceof HTMLDetailsElement && target instanceof Node && !list.contains(target)) list.open = false;
});

document.addEventListener("keydown", ({ key }) => {
  const list = open();
  if (key !== "Escape" || !(list instanceof HTMLDetailsElement)) return;
  list.open = false;
  list.querySelector("summary")?.focus();
});
