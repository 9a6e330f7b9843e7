/** The plus button on phones: a menu with files and the camera. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openChat } from "./support/chat.js";
import { until } from "./support/until.js";

/** The chat page on a device whose file fields can open the camera. */
function openPhone(t, how = {}) {
  return openChat(t, {
    ...how,
    change(_, window) {
      Object.defineProperty(window.HTMLInputElement.prototype, "capture", { value: "", configurable: true });
      const { matchMedia } = window;
      window.matchMedia = (query) => (query === "(pointer: coarse)" ? { matches: true } : matchMedia.call(window, query));
    },
  });
}

test("a photo is attached like a chosen picture", async (t) => {
  const tab = await openPhone(t);
  const field = await tab.appears("#photo-to-send");
  assert.deepEqual([field.accept, field.getAttribute("capture")], ["image/jpeg", "environment"]);
  const opened = [];
  for (const one of tab.all("input[type=file]")) one.click = () => opened.push(one.id);

  await tab.click("Add");
  await tab.appears("add-menu [role=menu]");
  assert.deepEqual(tab.texts("add-menu [role=menuitem]"), ["Attach files", "Take a photo"]);
  await tab.click("Take a photo");
  Object.defineProperty(field, "files", { value: [new tab.window.File(["x"], "image.jpg", { type: "image/jpeg" })], configurable: true });
  field.dispatchEvent(new tab.window.Event("change", { bubbles: true }));

  await tab.shows(".chip[data-state=done] .chip-name", "image.jpg");
  assert.deepEqual(opened, ["photo-to-send"]);
});

test("arrow keys move in the menu, and it returns the focus", async (t) => {
  const tab = await openPhone(t);
  const button = await tab.button("Add");
  button.click();
  await until(() => tab.focused?.textContent.trim(), "Attach files");

  tab.press(tab.focused, "ArrowDown");
  assert.equal(tab.focused.textContent.trim(), "Take a photo");
  tab.press(tab.focused, "ArrowDown");
  assert.equal(tab.focused.textContent.trim(), "Attach files");
  assert.equal(button.getAttribute("aria-haspopup"), "menu");
});

test("the camera is not offered where pictures are not accepted, nor on other devices", async (t) => {
  const texts = await openPhone(t, { attributes: { "upload-types": "text/*" } });
  const desk = await openChat(t);

  assert.deepEqual([texts.hasButton("Attach files"), texts.count("#photo-to-send")], [true, 0]);
  assert.deepEqual([desk.hasButton("Attach files"), desk.count("#photo-to-send")], [true, 0]);
});
