/** What a person can do with pieces of an answer: tables, code, tasks and footnotes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { until } from "./support/until.js";

const TABLE = `| City | Sales | Day |
|-|-:|-|
| Oslo | 1,200.5 | 3.1.2026 |
| Rome | 90 | 31.12.2025 |
| Lima | 10,000 | 1.2.2026 |
| =SUM(A1) | -1 | 2.2.2026 |
`;

/** A page with an answer. */
async function openAnswer(t, text) {
  const tab = await openChat(t);
  await ask(tab, "Show me");
  tab.socket.write(text);
  tab.socket.end();
  await tab.appears(".answer-foot");
  return tab;
}

test("a table is sorted by a column, up, down, and as it was written", async (t) => {
  const tab = await openAnswer(t, TABLE);
  const cities = () => tab.texts(".table td:first-child");
  const written = ["Oslo", "Rome", "Lima", "=SUM(A1)"];
  const columns = {
    Sales: ["=SUM(A1)", "Rome", "Oslo", "Lima"],
    Day: ["Rome", "Oslo", "Lima", "=SUM(A1)"],
  };
  for (const [column, ascending] of Object.entries(columns)) {
    const head = tab.all(".table th").find((one) => one.textContent.trim() === column);
    const order = () => [head.getAttribute("aria-sort"), cities()];
    const sort = () => head.querySelector("button").click();
    sort();
    assert.deepEqual(order(), ["ascending", ascending]);
    sort();
    assert.deepEqual(order(), ["descending", ascending.toReversed()]);
    sort();
    assert.deepEqual(order(), [null, written]);
  }
});

test("a table is copied as CSV, without formulas", async (t) => {
  const tab = await openAnswer(t, TABLE);
  await tab.click("Copy as CSV");

  await tab.button("Copied");
  assert.deepEqual(tab.copied.map((text) => text.split("\r\n")), [
    ["City,Sales,Day", 'Oslo,"1,200.5",3.1.2026', "Rome,90,31.12.2025", 'Lima,"10,000",1.2.2026', "'=SUM(A1),-1,2.2.2026"],
  ]);
});

test("a table has a name, and a table with one row is not sorted", async (t) => {
  const tab = await openAnswer(t, "| a | b |\n|-|-|\n| 1 | 2 |\n");
  assert.equal(tab.find(".table").getAttribute("aria-label"), "Table: a, b");
  assert.equal(tab.count(".table-sort"), 0);
});

test("code is numbered and copied, and saved under the name that the answer gave it", async (t) => {
  const code = Array.from({ length: 12 }, (_, number) => `print(${number})`).join("\n");
  const tab = await openAnswer(t, `\`\`\`python src/app.py\n${code}\n\`\`\`\n`);
  assert.equal(tab.find(".code pre").dataset.lines, Array.from({ length: 12 }, (_, number) => number + 1).join("\n"));
  await tab.shows(".code-language", "src/app.py");
  await tab.click("Copy", tab.find(".code"));
  await until(() => tab.copied.map((text) => text.trimEnd()), [code]);

  const saved = [];
  tab.window.HTMLAnchorElement.prototype.click = function () {
    saved.push(this.download);
  };
  await tab.click("Download", tab.find(".code"));
  await until(() => saved, ["app.py"]);
});

test("tasks are read as done or to do", async (t) => {
  const tab = await openAnswer(t, "- [x] bought\n- [ ] cooked\n");
  await tab.shows("li.task", "☑ Done: bought", "☐ To do: cooked");
});

test("a footnote and its mark lead to each other", async (t) => {
  const tab = await openAnswer(t, "See the note[^n].\n\n[^n]: Of all things.\n");
  const mark = await tab.button("Footnote n");
  mark.click();
  assert.equal(tab.focused, tab.find("[data-footnote-text]"));
  await tab.click("Back to the text of footnote n");
  assert.equal(tab.focused, mark);
});
