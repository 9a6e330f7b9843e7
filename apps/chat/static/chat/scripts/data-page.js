/** The page with a person's data: a file that is too large is refused before it is sent. */

const field = document.getElementById("import-file");

if (field instanceof HTMLInputElement) {
  const most = Number(field.dataset.most);
  field.addEventListener("change", () => {
    const size = field.files?.[0]?.size ?? 0;
    const words = `The file is larger than ${Math.floor(most / 1024 / 1024)} MB. Unpack a ZIP, and choose the file conversations.json in it.`;
    field.setCustomValidity(size > most ? words : "");
    field.reportValidity();
  });
  field.form?.addEventListener("submit", () => {
    const button = field.form?.querySelector("button.button");
    if (!(button instanceof HTMLButtonElement)) return;
    button.textContent = "Importing…";
    button.disabled = true;
  });
}
