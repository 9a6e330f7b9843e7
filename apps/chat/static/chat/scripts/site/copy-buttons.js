/** Buttons that copy the text of the element whose ID is in `data-copies`. */

import { copy } from "../clipboard.js";
import { gettext } from "../texts.js";

const COPIED_FOR = 2000;

for (const button of document.querySelectorAll("button[data-copies]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const label = button.firstChild;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies ?? "");
    const copied = await copy(source?.textContent ?? "");
    if (label) label.textContent = copied ? gettext("Copied") : gettext("Not copied");
    setTimeout(() => {
      if (label) label.textContent = gettext("Copy");
    }, COPIED_FOR);
  });
}
