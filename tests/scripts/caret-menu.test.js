/** The menu at the caret: prompts, skills, commands, applications and files. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { box, openChat } from "./support/chat.js";
import { Network } from "./support/network.js";
import { until } from "./support/until.js";

const OFFERED = {
  prompts: [
    { name: "weekly-report", title: "Weekly report", text: "Report on {{topic}} for {{who}}, {{topic}} first.", own: true },
    { name: "for-all", title: "For everybody", text: "Said by all.", own: false },
  ],
  skills: [{ name: "tone", detail: "How we write" }],
  applications: [{ slug: "second-desk", title: "Second desk", detail: "Answers." }],
  files: [{ name: "plan.txt", url: "files/user-1/plan.txt", type: "text/plain", size: 7 }],
  efforts: ["low", "high"],
  effort: "",
  models: [],
  model: "",
};
const STARTERS = { starters: [{ title: "Oslo", text: "The weather in Oslo?" }] };
const OPTION = ".caret-option";
const THINKING = 'choice-list [role=listbox][aria-label="Thinking"]';

/** A chat page that has loaded what its menu offers. */
async function openMenu(t) {
  const network = new Network();
  network.answer("GET /chat/page-tests/composer/*", OFFERED);
  const tab = await openChat(t, { network, starters: STARTERS });
  await until(() => tab.count(THINKING), 1);
  return tab;
}

test("a sign at the beginning of a word opens the menu, which is filtered by what follows", async (t) => {
  const tab = await openMenu(t);
  for (const text of ["1/2", "a@b", "https://x"]) {
    tab.fill(box(tab), text);
    await until(() => [box(tab).value, tab.count(OPTION)], [text, 0]);
  }

  tab.fill(box(tab), "Please 1/2 /");
  await tab.shows(".caret-menu [role=group] > p", "Your prompts", "Shared prompts", "Suggestions", "Skills", "Commands");
  tab.fill(box(tab), "Please 1/2 /for-");
  await tab.shows(OPTION, "for-all For everybody");
  assert.equal(box(tab).getAttribute("aria-activedescendant"), tab.find(OPTION).id);
  tab.press(box(tab), "Enter");

  await until(() => box(tab).value, "Please 1/2 Said by all.");
  assert.deepEqual([tab.focused === box(tab), tab.socket.asked], [true, []]);
});

test("arrows move, and Escape closes the menu without stopping or sending", async (t) => {
  const tab = await openMenu(t);
  tab.fill(box(tab), "/o");
  const active = () => tab.texts(`${OPTION}[aria-selected=true] .caret-name`);
  await until(() => tab.count(OPTION) > 2, true);
  const names = tab.texts(`${OPTION} .caret-name`);
  tab.press(box(tab), "ArrowDown");
  await until(active, [names[1]]);
  tab.press(box(tab), "ArrowUp");
  tab.press(box(tab), "ArrowUp");
  await until(active, [names.at(-1)]);

  tab.press(box(tab), "Escape");

  await until(() => tab.count(OPTION), 0);
  assert.equal(box(tab).value, "/o");
});

test("a command is shown as it is typed", async (t) => {
  const tab = await openMenu(t);
  tab.fill(box(tab), "/settings");

  await tab.shows(OPTION, "/settings Settings");
});

test("a prompt asks for what it leaves open", async (t) => {
  const tab = await openMenu(t);
  tab.fill(box(tab), "/weekly");
  await until(() => tab.count(OPTION), 1);
  tab.press(box(tab), "Enter");
  tab.fill(await tab.field("topic"), "sales");
  const who = await tab.field("who");
  tab.fill(who, "Ada");
  tab.press(who, "Enter");

  await until(() => box(tab).value, "Report on sales for Ada, sales first.");
  await until(() => tab.focused === box(tab), true);
});

test("a starter, a skill and an earlier file are inserted with a click", async (t) => {
  const tab = await openMenu(t);
  const choose = async (typed) => {
    tab.fill(box(tab), typed);
    (await tab.appears(OPTION)).click();
  };
  await choose("/oslo");
  await until(() => box(tab).value, "The weather in Oslo?");
  await choose("/tone");
  await until(() => box(tab).value, "Use the skill “tone”: ");
  await choose("#plan");

  await tab.shows(".chip[data-state=done] .chip-name", "plan.txt");
  assert.equal(box(tab).value, "");
  await tab.click("Remove plan.txt");
  await until(() => tab.count(".chip"), 0);
  assert.deepEqual(tab.network.requests.filter(({ method }) => method === "DELETE"), []); // it belongs to an earlier question
});

test("another application takes over what was written", async (t) => {
  const tab = await openMenu(t);
  const data = JSON.parse(tab.find("#page-data").textContent);
  Object.assign(data.attributes, { address: "/chat/second-desk/", application: "second-desk", title: "Second desk" });
  tab.network.answer("GET /chat/second-desk/page/", data);
  tab.fill(box(tab), "Take over @second");
  await until(() => tab.count(OPTION), 1);
  tab.press(box(tab), "Enter");

  await until(() => tab.window.location.pathname, "/chat/second-desk/");
  await until(() => box(tab).value, "Take over");
});

test("how much the model thinks is sent with the first question", async (t) => {
  const tab = await openMenu(t);
  tab.find(`${THINKING} [data-value=high]`).click();
  await tab.shows("#said", "Thinking changed. Applies from your next message.");
  tab.fill(box(tab), "Think");
  tab.press(box(tab), "Enter");

  await until(() => tab.socket.frames("ask").map(({ effort }) => effort), ["high"]);
});
