/** A user runs Python code from an answer. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { until } from "./support/until.js";

const CODE = "```python\nprint(6 * 7)\n```\n";
const OUTPUT = { is_successful: true, result: "", stdout: "", stderr: "", notes: [], files: [], left_out: [] };

async function openAnswer(t, attributes = { "runs-code": "yes" }) {
  const tab = await openChat(t, { attributes });
  await ask(tab, "Calculate");
  tab.socket.write(CODE);
  tab.socket.end();
  await tab.appears(".answer-foot");
  return { tab, path: `/chat/page-tests/${tab.socket.conversation}/run/` };
}

test("code cannot be run where the app has no interpreter", async (t) => {
  const { tab } = await openAnswer(t, { "runs-code": "" });
  assert.equal(tab.hasButton("Run"), false);
});

test("the output, the result and the files of the code are shown below it", async (t) => {
  const { tab, path } = await openAnswer(t);
  const files = [
    { name: "chart.png", type: "image/png", content: "iVBORw0KGgo=" },
    { name: "sums.csv", type: "text/csv", content: "YSxi" },
  ];
  tab.network.answer(`POST ${path}`, { ...OUTPUT, stdout: "42\n", result: "'x'", files, left_out: ["huge.csv"] });
  await tab.click("Run");

  await tab.shows(".code-state", "Finished.", "Too large to show: huge.csv");
  await tab.shows(".code-output pre", "42", "'x'");
  assert.equal(tab.network.sent(path)[0].body.code, "print(6 * 7)");
  assert.equal(tab.find(".code-output img").alt, "chart.png");
  await tab.button("Download sums.csv");
  await tab.button("Run");
  await tab.click("Remove the output");
  assert.equal(tab.count(".code-output"), 0);
  assert.equal(tab.focused, tab.find("[data-code=run]"));
});

test("an error of the code replaces earlier output", async (t) => {
  const { tab, path } = await openAnswer(t);
  tab.network.answer(`POST ${path}`, { ...OUTPUT, stdout: "1" });
  await tab.click("Run");
  await tab.shows(".code-output pre", "1");
  tab.network.answer(`POST ${path}`, { ...OUTPUT, is_successful: false, stderr: "NameError: x" });
  await tab.click("Run");

  await tab.shows(".code-output pre", "NameError: x");
  await tab.shows(".code-state", "The code ended with an error.");
});

test("running code can be stopped", async (t) => {
  const { tab, path } = await openAnswer(t);
  tab.network.answer(`POST ${path}`, () => new Promise(() => {}));
  await tab.click("Run");
  await tab.shows(".code-state", "Running…");
  await until(() => tab.network.sent(path).length, 1);
  await tab.click("Stop", tab.find(".code"));

  await tab.shows(".code-state", "Stopped.");
  await tab.button("Run");
});

test("a refusal and a lost connection give the reason", async (t) => {
  const { tab, path } = await openAnswer(t);
  const error = { code: "code_denied", message: "This app’s rules don’t allow this code." };
  tab.network.answer(`POST ${path}`, Response.json({ error }, { status: 403 }));
  await tab.click("Run");
  await tab.shows(".code-state", error.message);

  tab.network.isDown = true;
  await tab.click("Run");
  await tab.shows(".code-state", "The code could not be run. Check your connection and try again.");
});
