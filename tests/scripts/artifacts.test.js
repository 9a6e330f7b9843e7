/** A user changes the code of an answer, and sends the change with the next message. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, box, openChat, reload, send } from "./support/chat.js";
import { until } from "./support/until.js";

const PAGE = "```html\n<title>Visitors</title>\n<h1>Old</h1>\n```\n";
const CHANGED = "<title>Visitors</title>\n<h1>New</h1>";
const ADDED = `I changed this. Continue with my version:\n\n\`\`\`html\n${CHANGED}\n\`\`\``;

async function openAnswer(t, text, how = {}) {
  const tab = await openChat(t, how);
  await ask(tab, "Show me");
  tab.socket.write(text);
  tab.socket.end();
  await tab.appears(".answer-foot");
  return tab;
}

/** Open the panel of the page and change its text. */
async function change(tab, text = CHANGED) {
  await tab.click("Preview", tab.find(".code"));
  await tab.click("Edit", await tab.appears("artifact-panel dialog"));
  tab.fill(await tab.appears(".artifact-editor"), text);
  await tab.button("Add to message");
}

test("a changed page is a version of the user, and is added to the message once", async (t) => {
  const tab = await openAnswer(t, PAGE);
  await change(tab, "<title>Visitors</title>\n<h1>Newer</h1>");
  await tab.shows(".artifact-versions > span", "Version 2/2");
  tab.fill(box(tab), "What do you think?");
  await tab.click("Add to message");
  tab.fill(tab.find(".artifact-editor"), CHANGED);
  await tab.click("Add to message");

  await tab.shows(".artifact-foot [role=status]", "Your version is in the message box.");
  assert.equal(box(tab).value, `What do you think?\n\n${ADDED}\n\n`);
  await tab.click("Remove from message");
  await until(() => box(tab).value, "What do you think?");
});

test("changes that were not sent survive a reload", async (t) => {
  const tab = await openAnswer(t, PAGE);
  await change(tab);

  const again = await reload(t, tab);
  await again.appears(".answer-foot");
  await again.click("Preview", again.find(".code"));

  await again.shows(".artifact-versions > span", "Version 2/2");
  await again.shows(".artifact-foot [role=status]", "Your version, not sent yet.");
  await again.click("Edit", again.find("artifact-panel dialog"));
  assert.equal((await again.appears(".artifact-editor")).value, CHANGED);
});

test("discarded changes can be restored", async (t) => {
  const tab = await openAnswer(t, PAGE);
  await change(tab);
  await tab.click("Add to message");
  await tab.click("Discard");

  await tab.shows(".artifact-foot [role=status]", "Changes discarded.");
  assert.equal(box(tab).value, "");
  assert.equal(tab.count(".artifact-versions"), 0);
  await tab.click("Undo");
  assert.equal((await tab.appears(".artifact-editor")).value, CHANGED);
});

test("a sent version stays among the versions", async (t) => {
  const tab = await openAnswer(t, PAGE);
  await change(tab);
  await tab.click("Add to message");
  tab.press(box(tab), "Enter");
  await until(() => tab.socket.asked.at(-1), ADDED);
  await tab.shows(".artifact-foot [role=status]", "You sent this version.");
  tab.socket.end("done", { text: PAGE.replace("Old", "Newest") });
  await until(() => tab.count(".answer-foot"), 2);

  await tab.click("Preview", tab.all("chat-answer .code").at(-1));
  await tab.shows(".artifact-versions > span", "Version 3/3");
  assert.equal(tab.count(".artifact-foot"), 0);
  await tab.click("Earlier version");
  await tab.shows(".artifact-foot [role=status]", "You sent this version.");
});

test("a change that does not fit into the message is refused with the limit", async (t) => {
  const tab = await openAnswer(t, PAGE, { attributes: { "text-limit": "200" } });
  await change(tab, "x".repeat(180));
  await tab.click("Add to message");

  await tab.shows(".artifact-problem", "The message would have 235 characters; the limit is 200.");
  assert.equal(box(tab).value, "");
});

test("long code of any language can be edited, each block by itself", async (t) => {
  const tab = await openAnswer(t, "```python\na = 1\nb = 2\nc = 3\nd = 4\n```\n\n```python\n1\n2\n3\n4\n```\n\n```sh\nls\n```\n");
  const edits = tab.all(".code [data-code=edit]");
  assert.equal(edits.length, 2);

  edits[0].click();
  tab.fill(await tab.appears(".artifact-editor"), "a = 5");
  await tab.click("Close the preview");
  await until(() => tab.count("artifact-panel"), 0);
  edits[1].click();
  assert.equal((await tab.appears(".artifact-editor")).value, "1\n2\n3\n4");
  await tab.click("Close the preview");
  await until(() => tab.count("artifact-panel"), 0);
  edits[0].click();
  assert.equal((await tab.appears(".artifact-editor")).value, "a = 5");
});

test("a message that was only typed is sent as it is", async (t) => {
  const tab = await openAnswer(t, PAGE);
  await change(tab);
  send(tab, "Never mind");
  await until(() => tab.socket.asked.at(-1), "Never mind");
  await tab.shows(".artifact-foot [role=status]", "Your version, not sent yet.");
});
