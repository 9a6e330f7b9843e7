/** The parts of the style guide that need scripts. The script of the frame defines `choice-list`. */

import { MarkdownText } from "../markdown/markdown.js";

/** @import { ChatToast } from "../notices/toast.js" */

const CITIES = ["Athens", "Bergen", "Cork", "Dublin", "Esbjerg", "Faro", "Ghent", "Helsinki", "Izmir"];
const MARKDOWN = `## Offers

The suppliers differ most in **delivery time**, see \`total()\` and [the offers](https://example.com).

| Supplier | Price | Days |
|:--|--:|--:|
| Nordpapier | 42.10 | 3 |
| Vltava Print | 44.00 | 2 |

1. Prices without tax
2. Delivery to Hamburg

> Confirmed in writing.

\`\`\`python
def total(price: float, sheets: int) -> float:
    return round(price * sheets / 1000, 2)  # per 1,000
\`\`\`
`;

for (const color of document.querySelectorAll(".guide-color")) {
  if (color instanceof HTMLElement) color.style.background = `var(--${color.dataset.token})`;
}
fill("guide-few", [
  { value: "", title: "Default" },
  { value: "low", title: "Low", detail: "Answers at once" },
  { value: "high", title: "High", detail: "Thinks before it answers" },
]);
fill("guide-many", CITIES.map((title) => ({ value: title, title })), "Cork");
fill("guide-model", [{ value: "", title: "Quick" }]);
const text = document.getElementById("guide-markdown");
if (text instanceof MarkdownText) Object.assign(text, { text: MARKDOWN, complete: true });
// The page's frame has defined it.
const toast = /** @type {ChatToast | null} */ (document.getElementById("toast"));
document.getElementById("guide-toast")?.addEventListener("click", () => void toast?.show("Conversation deleted.", () => {}));
const dialog = document.getElementById("guide-dialog");
document.getElementById("guide-open")?.addEventListener("click", () => {
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
});

/** @param {string} id @param {import("../choice-list.js").ChoiceOption[]} options @param {string} [value] */
function fill(id, options, value = "") {
  const list = document.getElementById(id);
  if (list) Object.assign(list, { options, value });
}
