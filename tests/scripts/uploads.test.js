/** Files on their way to the server: from the person's disk to the question. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { box, openChat, reload } from "./support/chat.js";
import { until } from "./support/until.js";

function file(tab, name, content = "x", type = "text/plain") {
  return new tab.window.File([content], name, { type });
}

/** Choose files in the dialog of the browser. */
function choose(tab, ...files) {
  const field = tab.find("#files-to-send");
  Object.defineProperty(field, "files", { value: files, configurable: true });
  field.dispatchEvent(new tab.window.Event("change", { bubbles: true }));
}

const STORED = ".chip[data-state=done] .chip-name";

test("a file alone is a question", async (t) => {
  const tab = await openChat(t);
  choose(tab, file(tab, "notes.md"));
  await tab.shows(STORED, "notes.md");

  tab.press(box(tab), "Enter");

  await until(() => tab.socket.frames("ask").map(({ text, attachments }) => [text, attachments]), [
    ["", [{ url: "files/user-1/notes.md" }]],
  ]);
  assert.equal(tab.count(".question-text"), 0);
  assert.equal(tab.count(".chip"), 0);
});

test("a file is sent for the conversation that is to begin", async (t) => {
  const tab = await openChat(t);
  choose(tab, file(tab, "notes.md"));
  await tab.shows(STORED, "notes.md");
  tab.press(box(tab), "Enter");

  await until(() => tab.socket.frames("ask").length, 1);
  const [{ begin }] = tab.socket.frames("ask");
  const [{ conversation, method, address, headers }] = tab.network.uploads;
  assert.deepEqual([conversation, method, address], [begin, "POST", "/chat/page-tests/files/"]);
  assert.equal(headers["X-CSRFToken"], tab.find("input[name=csrfmiddlewaretoken]").value);
});

test("files are dropped on the page", async (t) => {
  const tab = await openChat(t);
  const dragged = { types: ["Files"], files: [file(tab, "dropped.txt")] };
  const drag = (type) => {
    const event = new tab.window.Event(type, { bubbles: true, cancelable: true });
    tab.document.body.dispatchEvent(Object.assign(event, { dataTransfer: dragged }));
    return event.defaultPrevented;
  };

  assert.equal(drag("dragenter"), true);
  assert.equal(tab.find("#drop").hidden, false);
  assert.equal(drag("dragover"), true);
  assert.equal(drag("drop"), true);

  assert.equal(tab.find("#drop").hidden, true);
  await tab.shows(STORED, "dropped.txt");
  await until(() => tab.focused === box(tab), true);
});

test("an upload shows its progress and can be cancelled", async (t) => {
  const tab = await openChat(t);
  tab.network.holdsUploads = true;
  choose(tab, file(tab, "large.txt"), file(tab, "notes.md"));
  await until(() => tab.network.uploads.length, 2);
  const [large, notes] = tab.network.uploads;

  large.progress(0.25);
  const bar = await tab.appears("progress[aria-label='Uploading large.txt']");
  await until(() => bar.value, 0.25);
  assert.ok(!tab.hasButton("Send"));
  await tab.click("Cancel uploading large.txt");
  notes.respond();

  await tab.shows(".chip-name", "notes.md");
  await tab.shows(STORED, "notes.md");
  assert.equal(large.isAborted, true);
  assert.equal(tab.focused, box(tab));
});

test("three files are on their way at a time", async (t) => {
  const tab = await openChat(t);
  tab.network.holdsUploads = true;
  choose(tab, ...["a", "b", "c", "d"].map((name) => file(tab, name)));
  await tab.shows(".chip-detail", "Waiting");
  assert.equal(tab.network.uploads.length, 3);

  tab.network.uploads[1].respond();

  await until(() => tab.network.uploads.map(({ file: { name } }) => name), ["a", "b", "c", "d"]);
});

test("files that were lost on their way are sent again when the connection is back", async (t) => {
  const first = await openChat(t);
  first.network.isDown = true;
  choose(first, file(first, "notes.md"), file(first, "dot.png", "x", "image/png"));
  await first.shows(".chip[data-state=failed] .chip-detail", "The connection was lost.", "The connection was lost.");
  assert.ok(first.hasButton("Retry notes.md"));

  first.network.isDown = false;
  first.window.dispatchEvent(new first.window.Event("online"));

  await first.shows(STORED, "notes.md", "dot.png");
  const tab = await reload(t, first);
  await tab.shows(STORED, "notes.md", "dot.png");
});

test("a failed upload is retried by hand", async (t) => {
  const tab = await openChat(t);
  tab.network.holdsUploads = true;
  choose(tab, file(tab, "notes.md"));
  await until(() => tab.network.uploads.length, 1);
  tab.network.uploads[0].respond(503, null);
  await tab.shows(".chip[data-state=failed] .chip-detail", "The server rejected the file. Try another file.");

  await tab.click("Retry notes.md");
  await until(() => tab.network.uploads.length, 2);
  tab.network.uploads[1].respond();

  await tab.shows(STORED, "notes.md");
});

test("an upload that was too slow can be retried", async (t) => {
  const tab = await openChat(t);
  tab.network.holdsUploads = true;
  choose(tab, file(tab, "notes.md"));
  await until(() => tab.network.uploads.length, 1);

  tab.network.uploads[0].respond(408, { error: { code: "too_slow", message: "Too slow." } });

  await tab.shows(".chip[data-state=failed] .chip-detail", "Too slow.");
  assert.ok(tab.hasButton("Retry notes.md"));
});

test("a file that cannot be sent shows why", async (t) => {
  const tab = await openChat(t, { attributes: { "upload-types": "text/*,image/png", "upload-names": "text, PNG", "upload-limit": "10485760" } });
  tab.network.holdsUploads = true;
  choose(tab, file(tab, "huge.txt", "x".repeat(10_485_761)), file(tab, "empty.txt", ""), file(tab, "a.PDF", "x", "application/pdf"), file(tab, "makefile", "x", "application/x-make"), file(tab, "lie.png", "x", "image/png"));
  await until(() => tab.network.uploads.length, 1);
  const message = "The content of the file doesn’t match its extension.";
  tab.network.uploads[0].respond(400, { error: { message } });

  await tab.shows(
    ".chip[data-state=failed] .chip-detail",
    "Too large (10 MB). The limit is 10 MB.",
    "Can’t attach empty files or folders.",
    "Can’t attach .pdf files. Allowed: text, PNG.",
    "Can’t attach this type of file. Allowed: text, PNG.",
    message,
  );
  tab.fill(box(tab), "Read them");
  tab.press(box(tab), "Enter");
  await tab.shows(".composer-problem", "Not sent because huge.txt could not be uploaded. Remove the file.");
  assert.equal(box(tab).value, "Read them");
  for (const name of ["huge.txt", "empty.txt", "a.PDF", "makefile", "lie.png"]) await tab.click(`Remove ${name}`);
  await until(() => tab.count(".tray"), 0);
});

test("more files than go with one question are counted before they are sent", async (t) => {
  const tab = await openChat(t);
  choose(tab, ...Array.from({ length: 21 }, (_, number) => file(tab, `${number}.txt`)));
  await until(() => tab.count(STORED), 21);

  await tab.shows(".tray-problem", "A question can have up to 20 files. Number of files to remove: 1.");
  assert.ok(!tab.hasButton("Send"));
  await tab.click("Remove 7.txt");

  tab.fill(box(tab), "What can you do?");
  tab.press(box(tab), "Enter");
  await until(() => tab.socket.frames("ask").map(({ attachments }) => attachments.length), [20]);
  await until(() => tab.count(".question .attachments li"), 20);
  assert.deepEqual(tab.network.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path), ["/files/user-1/7.txt"]);
});
