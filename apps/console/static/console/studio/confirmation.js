// Asks the user to confirm an action that cannot be undone, in a dialog.

import { button, element, newId } from "./elements.js";
import { part } from "../parts.js";

/**
 * Returns true if the user chooses the action; Escape and "Cancel" leave the dialog.
 * @param {string} question @param {string} details or "" @param {string} action the label of the button
 * @returns {Promise<boolean>}
 */
export function confirmed(question, details, action) {
  const id = newId("question");
  return new Promise((resolve) => {
    let isConfirmed = false;
    const choose = () => {
      isConfirmed = true;
      dialog.close();
    };
    const leave = () => {
      dialog.remove();
      resolve(isConfirmed);
    };
    const cancel = button("Cancel", () => dialog.close());
    /** @type {HTMLDialogElement} */
    const dialog = element(
      "dialog",
      { class: "studio-dialog studio-confirmation", "aria-labelledby": id, onclose: leave },
      element("h2", { id }, question),
      details ? element("p", {}, details) : "",
      element("p", { class: "studio-actions" }, cancel, button(action, choose, { class: "console-button console-danger" })),
    );
    part(document, "[data-studio]", HTMLElement).append(dialog);
    dialog.showModal();
    cancel.focus();
  });
}
