// Buttons that copy the value of another element: `<button data-copies="its id">`.

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copies]");
  if (!(button instanceof HTMLButtonElement)) return;
  const source = document.getElementById(button.dataset.copies ?? "");
  const text = source instanceof HTMLInputElement ? source.value : (source?.textContent ?? "");
  // A second click must not store “Copied” as the label.
  const label = (button.dataset.label ??= button.textContent ?? "");
  try {
    await navigator.clipboard.writeText(text.trim());
    button.textContent = "Copied";
  } catch {
    // Without a secure origin, there is no clipboard: the selected text can be copied by hand.
    if (source instanceof HTMLInputElement) source.select();
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
});
