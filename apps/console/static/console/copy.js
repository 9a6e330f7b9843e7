// Buttons that copy the value of another element: `<button data-copies="its id">`.

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copies]");
  if (!(button instanceof HTMLButtonElement)) return;
  const source = document.getElementById(button.dataset.copies ?? "");
  const text = source instanceof HTMLInputElement ? source.value : (source?.textContent ?? "");
  // A second click must not store “Copied” as the label.
  const label = button.dataset.label ?? button.textContent ?? "";
  button.dataset.label = label;
  const { copy } = await import("../chat/scripts/clipboard.js");
  const isCopied = await copy(text.trim());
  if (!isCopied && source instanceof HTMLInputElement) source.select();
  button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
});
