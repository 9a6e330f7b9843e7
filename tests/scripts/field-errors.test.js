/** Errors that the browser finds in a form: at their fields, in words of the page, and gone once the field is valid. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTab, textOf } from "./support/tab.js";
import { until } from "./support/until.js";

/** The form of a new schedule. What the browser would show in bubbles is counted. */
async function openSchedule(t) {
  const tab = await openTab(t, "schedule", { path: "/scheduled/new/" });
  const bubbles = [];
  for (const field of tab.all("form [required]")) field.addEventListener("invalid", (event) => event.defaultPrevented || bubbles.push(field.name));
  t.after(() => assert.deepEqual(bubbles, []));
  tab.fill(tab.find("[name=message]"), "Summarize the news.");
  return tab;
}

test("an app that is missing is asked for at its field, whose button takes the focus", async (t) => {
  const tab = await openSchedule(t);
  await tab.click("Save");

  await tab.shows(".field-error", "Choose an app.", "This field is required.");
  const [app, button] = [tab.find("[name=application]"), tab.document.querySelector(".choice-field .choice-button")];
  await until(() => tab.focused === button, true);
  await until(() => button.getAttribute("aria-describedby"), "id_application_problem");
  assert.deepEqual([app.getAttribute("aria-invalid"), textOf(tab.find("#id_application_problem"))], ["true", "Choose an app."]);
});

test("an error is gone once its field is valid, and the next invalid field takes the focus", async (t) => {
  const tab = await openSchedule(t);
  await tab.click("Save");
  const app = tab.find("[name=application]");
  tab.choose(app, app.options[1].value);
  await tab.shows(".field-error", "This field is required.");
  assert.equal(app.hasAttribute("aria-invalid"), false);
  await tab.click("Save");

  await until(() => tab.focused.name, "name");
  await tab.shows(".field-error", "This field is required.");
});

test("an error in closed options opens them", async (t) => {
  const tab = await openSchedule(t);
  const field = tab.find("[name=max_runs]");
  const options = field.closest("details");
  assert.equal(options.open, false);
  field.required = true;
  await tab.click("Save");

  await until(() => options.open, true);
  assert.equal(textOf(field.nextElementSibling), "This field is required.");
});
