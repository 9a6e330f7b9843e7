/** Whoever signs out leaves nothing behind that they have written. */

import { forgetDrafts } from "../composer/drafts.js";

for (const form of document.querySelectorAll("form.sign-out")) form.addEventListener("submit", () => forgetDrafts());
