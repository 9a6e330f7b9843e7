/** Signing out removes the user's drafts. */

import { forgetDrafts } from "../composer/drafts.js";

for (const form of document.querySelectorAll("form.sign-out")) form.addEventListener("submit", () => forgetDrafts());
