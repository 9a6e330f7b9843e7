/** The data page: a file that is too large is rejected before the upload. */

import { gettext } from "../texts.js";
const field = document.getElementById("import-file");

if (field instanceof HTMLInputElement) {
  const most = Number(field.dataset.most);
  field.addEventListener("change", () => {
    const size = field.files?.[0]?.size ?? 0;
    const words = gettext("The file is larger than {megabytes} MB. If it’s a ZIP, unpack it and choose the conversations.json file inside.", { megabytes: Math.floor(most / 1024 / 1024) });
    field.setCustomValidity(size > most ? words : "");
    field.reportValidity();
  });
  field.form?.addEventListener("submit", () => {
    const button = field.form?.querySelector("button.button");
    if (!(button instanceof HTMLButtonElement)) return;
    button.textContent = gettext("Importing…");
    button.disabled = true;
  });
}
