/** The files of a skill, which are added, taken from this computer, renamed and removed without a reload. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTab, textOf } from "./support/tab.js";
import { until } from "./support/until.js";

const PATH = "/admin/catalog/contentitem/add/?kind=skill&name=by-hand";

async function openForm(t) {
  // happy-dom takes another option than the one that the document selects.
  const change = (document) => (document.querySelector("select[name=kind]").value = "skill");
  const tab = await openTab(t, "skill", { path: PATH, change });
  return { tab, form: tab.find("[data-skill-files]") };
}

/** Choose files in the dialog of the browser. */
function choose(tab, ...files) {
  const picker = tab.find("[data-skill-files] input[type=file]");
  const chosen = files.map(([name, content]) => ({
    name,
    size: content.length,
    arrayBuffer: async () => content.buffer.slice(content.byteOffset, content.byteOffset + content.length),
  }));
  Object.defineProperty(picker, "files", { value: chosen, configurable: true });
  picker.dispatchEvent(new tab.window.Event("change", { bubbles: true }));
}

const FILES = "[data-skill-files] [data-file]";
const bytes = (text) => new TextEncoder().encode(text);
const paths = (tab) => tab.all(`${FILES} input`).map(({ value }) => value);
const texts = (tab) => tab.all(`${FILES} textarea`).map(({ value }) => value);
const status = (tab) => textOf(tab.find("[data-skill-files] [data-status]"));

test("a file is added, removed and restored, and the focus follows", async (t) => {
  const { tab, form } = await openForm(t);
  await tab.appears("[data-none]:not([hidden])", "There are no files next to SKILL.md.");
  await tab.click("Add a file", form);
  assert.equal(tab.focused, tab.find(`${FILES} input`));
  assert.ok(tab.find("[data-none]").hidden);
  tab.fill(tab.find(`${FILES} input`), "thanks.md");
  await tab.shows(`${FILES} [data-shown]`, "thanks.md");

  await tab.click(/^Remove/, tab.find(FILES));
  assert.deepEqual([paths(tab), status(tab)], [[], "Removed thanks.md."]);
  assert.equal(textOf(tab.focused), "Restore");
  tab.focused.click();

  assert.deepEqual(paths(tab), ["thanks.md"]);
  assert.equal(tab.focused, tab.find(`${FILES} input`));
});

test("an invalid path is reported at its file", async (t) => {
  const { tab, form } = await openForm(t);
  for (const path of ["logo.png", "a.md", "a.md"]) {
    await tab.click("Add a file", form);
    tab.fill(tab.find(`${FILES} input`), path);
  }
  const told = () => tab.all(FILES).map((file) => [file.querySelector("input").getAttribute("aria-invalid"), textOf(file.querySelector("[data-problem]"))]);

  const [[isInvalid, words], ...twice] = told();
  assert.equal(isInvalid, "true");
  assert.match(words, /^logo\.png: must end with one of \.csv /);
  assert.deepEqual(twice, Array(2).fill(["true", "a.md: occurs twice."]));
  const [input] = tab.all(`${FILES} input`);
  assert.equal(textOf(tab.document.getElementById(input.getAttribute("aria-describedby"))), words);

  tab.fill(input, "logo.md");
  tab.fill(tab.all(`${FILES} input`)[2], "b.md");
  assert.deepEqual(told(), Array(3).fill([null, ""]));
});

test("files of this computer are taken, and pictures are left out", async (t) => {
  const { tab } = await openForm(t);
  choose(tab, ["rules.md", bytes("Größe\n")], ["photo.txt", new Uint8Array([0xff, 0xfe, 0])]);
  await until(() => status(tab), "rules.md was added. photo.txt is not UTF-8 text, and was not added.");
  assert.deepEqual([paths(tab), texts(tab)], [["rules.md"], ["Größe\n"]]);

  choose(tab, ["rules.md", bytes("Newer")]);
  await until(() => status(tab), "rules.md was replaced.");
  assert.deepEqual([paths(tab), texts(tab)], [["rules.md"], ["Newer"]]);
});

test("what is too large to be sent stays on the page", async (t) => {
  const { tab } = await openForm(t);
  tab.find("textarea[name=text]").value = "Be kind.";
  choose(tab, ...Array.from({ length: 9 }, (_, number) => [`${number}.md`, new Uint8Array(260_000).fill(120)]));
  await until(() => paths(tab).length, 9);
  const submit = new tab.window.Event("submit", { bubbles: true, cancelable: true });

  tab.find("[data-skill-files]").closest("form").dispatchEvent(submit);

  assert.equal(submit.defaultPrevented, true);
  assert.match(status(tab), /^Nothing was saved: SKILL\.md and its files are 2,340,008 bytes in total; the limit is [\d,]+\.$/);
  assert.equal(textOf(tab.focused), "Add a file");
});

test("the files follow the kind that is chosen, and stay once there are some", async (t) => {
  const tab = await openTab(t, "content", { path: "/admin/catalog/contentitem/add/" });
  const kind = tab.find("select[name=kind]");
  const isHidden = () => tab.find("[data-add]").closest("[hidden]") !== null;
  assert.equal(isHidden(), true);
  tab.choose(kind, "skill");
  assert.equal(isHidden(), false);
  tab.choose(kind, "prompt");
  assert.equal(isHidden(), true);

  tab.choose(kind, "skill");
  await tab.click("Add a file", tab.find("[data-skill-files]"));
  tab.choose(kind, "prompt");
  assert.equal(isHidden(), false);
});
