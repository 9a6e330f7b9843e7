/** The palette: words, arrows and Enter lead to a conversation, an application or a command. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, box, openChat } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { settle, until } from "./support/until.js";

const GROUPS = [
  { title: "Apps", found: [{ title: "Second desk", detail: "Answers.", url: "/chat/second-desk/" }] },
  {
    title: "Conversations",
    found: [
      { title: "Rivers", detail: "Page tests", url: "/chat/page-tests/1/" },
      { title: "Lakes", detail: "Page tests", url: "/chat/page-tests/2/" },
    ],
  },
];

/** The chat page with an open palette. */
async function openPalette(t, groups = GROUPS, how = {}) {
  const tab = await openChat(t, how);
  tab.network.answer("GET /find/*", () => ({ groups: structuredClone(groups) }));
  tab.press(tab.document.body, "Control+k");
  await until(() => tab.find("#palette").open, true);
  const field = tab.find("#palette input");
  return { tab, field };
}

const OPTION = "#palette [role=option]";
const CHOSEN = `${OPTION}[aria-selected=true]`;

/** The words that were searched. */
function searches(tab) {
  return tab.network.requests.map(({ path }) => /^\/find\/\?q=(.*)$/.exec(path)?.[1]).filter((words) => words !== undefined);
}

/** The titles of what is found. */
function titles(tab) {
  return tab.all(OPTION).map((one) => one.firstChild.textContent);
}

test("the palette searches for what is typed, in named groups", async (t) => {
  const { tab, field } = await openPalette(t, [{ title: "Apps", found: GROUPS[0].found }]);
  assert.equal(tab.focused, field);
  tab.fill(field, "desk");
  await until(() => searches(tab), ["", "desk"]);
  await until(() => titles(tab), ["Second desk"]);

  assert.deepEqual(tab.texts("#palette-found [role=group] p"), ["Apps"]);
  assert.equal(tab.find("#palette-found [role=group]").getAttribute("aria-labelledby"), tab.find("#palette-found [role=group] p").id);
  await tab.shows("#palette [role=status]", "1 found");
});

test("arrows move through the results, and the field names the active one", async (t) => {
  const { tab, field } = await openPalette(t, GROUPS.slice(1));
  tab.fill(field, "waters");
  await until(() => titles(tab), ["Rivers", "Lakes"]);
  const chosen = () => [tab.texts(CHOSEN).map((text) => text.split(" ")[0]), field.getAttribute("aria-activedescendant") === tab.find(CHOSEN)?.id];

  assert.deepEqual(chosen(), [["Rivers"], true]);
  tab.press(field, "ArrowDown");
  assert.deepEqual(chosen(), [["Lakes"], true]);
  tab.press(field, "ArrowDown");
  assert.deepEqual(chosen(), [["Rivers"], true]);
  tab.press(field, "ArrowUp");
  assert.deepEqual(chosen(), [["Lakes"], true]);
  assert.equal(field.getAttribute("aria-expanded"), "true");
});

test("the pointer moves the selection, and each text has its own direction", async (t) => {
  const { tab, field } = await openPalette(t, GROUPS.slice(1));
  tab.fill(field, "waters");
  await until(() => titles(tab), ["Rivers", "Lakes"]);
  const [, second] = tab.all(OPTION);

  second.dispatchEvent(new tab.window.Event("pointermove", { bubbles: true }));

  assert.deepEqual([tab.all(CHOSEN), field.getAttribute("aria-activedescendant")], [[second], second.id]);
  assert.deepEqual([...second.children].map((one) => [one.dir, one.textContent]), [["auto", "Lakes"], ["auto", "Page tests"]]);
});

test("commands of the page are among the results, and Enter runs them", async (t) => {
  const { tab, field } = await openPalette(t, []);
  tab.fill(field, "keyboard");
  await until(() => titles(tab), ["Keyboard shortcuts"]);

  tab.press(field, "Enter");

  await until(() => tab.find("#palette").open, false);
  await tab.appears("dialog.shortcuts", "Keyboard shortcuts");
});

test("a page is not listed a second time as a command", async (t) => {
  const page = { title: "Settings", detail: "Appearance and behavior", url: "/settings/" };
  const { tab, field } = await openPalette(t, [{ title: "Pages", found: [page] }]);
  tab.fill(field, "settings");

  await tab.shows("#palette [role=status]", "1 found");
  assert.deepEqual(titles(tab), ["Settings"]);
});

test("a command is offered only while it applies", async (t) => {
  const { tab, field } = await openPalette(t, []);
  tab.fill(field, "answer");
  await tab.shows("#palette [role=status]", "No results.");
  assert.ok(tab.find("#palette-found").hidden);
  assert.equal(field.hasAttribute("aria-activedescendant"), false);
  tab.find("#palette [data-close]").click();

  await ask(tab, "Hello");
  tab.socket.write("Hello.");
  await tab.shows(".answer-text", "Hello.");
  tab.press(tab.document.body, "Control+k");
  tab.fill(field, "answer");

  await until(() => titles(tab), ["Stop the answer", "Copy the last answer"]);
});

test("a search that fails shows what to do", async (t) => {
  const { tab, field } = await openPalette(t);
  tab.network.answer("GET /find/*", new Response("", { status: 403 }));
  tab.fill(field, "desk");

  await tab.shows("#palette [role=status]", "Search is unavailable. Reload the page and sign in again.");
  assert.deepEqual(titles(tab), []);
});

test("results of an earlier search are not shown", async (t) => {
  const { tab, field } = await openPalette(t, []);
  const held = [];
  tab.network.answer("GET /find/*", ({ path }) => new Promise((resolve) => held.push([path, resolve])));
  tab.fill(field, "older");
  await until(() => held.at(-1)?.[0], "/find/?q=older");
  const [, answerOld] = held.at(-1);
  tab.fill(field, "newest");
  await until(() => held.at(-1)[0], "/find/?q=newest");
  const [, answerNew] = held.at(-1);
  await settle();
  assert.equal(textOf(tab.find("#palette [role=status]")).includes("Search is unavailable. Reload the page and sign in again"), false);

  answerNew({ groups: GROUPS.slice(0, 1) });
  await until(() => titles(tab), ["Second desk"]);
  answerOld({ groups: GROUPS.slice(1) });
  await settle();

  assert.deepEqual(titles(tab), ["Second desk"]);
});

test("the palette shows that it is searching, and opens no row of an earlier search", async (t) => {
  const { tab, field } = await openPalette(t);
  tab.fill(field, "waters");
  await until(() => titles(tab), ["Second desk", "Rivers", "Lakes"]);
  const held = [];
  tab.network.answer("GET /find/*", () => new Promise((resolve) => held.push(resolve)));
  const opened = [];
  tab.document.addEventListener("click", (event) => {
    if (event.target.role === "option" && !event.defaultPrevented) opened.push(event.target.getAttribute("href"));
    event.preventDefault();
  });
  const state = () => [tab.find("#palette-found").getAttribute("aria-busy"), textOf(tab.find("#palette [role=status]")), tab.count(CHOSEN)];

  tab.fill(field, "lakes");
  assert.deepEqual(state(), ["true", "Searching…", 0]);
  tab.press(field, "ArrowDown");
  tab.press(field, "Enter");
  tab.all(OPTION)[0].click();
  await until(() => held.length, 1);
  assert.deepEqual([opened, tab.find("#palette").open], [[], true]);

  held[0]({ groups: [{ title: "Conversations", found: [GROUPS[1].found[1]] }] });
  await until(() => tab.find("#palette").open, false);
  assert.deepEqual([opened, titles(tab)], [["/chat/page-tests/2/"], ["Lakes"]]);
});

test("an Enter that was pressed too early opens nothing once more is typed or the palette is closed", async (t) => {
  const { tab, field } = await openPalette(t);
  const opened = [];
  tab.document.addEventListener("click", (event) => {
    if (event.target.role === "option" && !event.defaultPrevented) opened.push(event.target.getAttribute("href"));
    event.preventDefault();
  });
  tab.fill(field, "la");
  tab.press(field, "Enter");
  tab.fill(field, "lakes");
  await until(() => titles(tab), ["Second desk", "Rivers", "Lakes"]);
  tab.fill(field, "rivers");
  tab.press(field, "Enter");
  tab.find("#palette [data-close]").click();
  await settle();

  assert.deepEqual(opened, []);
});

test("the palette closes with its key, its button and a click beside it, and stays away from other dialogs", async (t) => {
  const { tab } = await openPalette(t);
  const palette = tab.find("#palette");
  const open = () => tab.press(tab.document.body, "Control+k");
  open();
  assert.equal(palette.open, false);
  open();
  palette.querySelector("[data-close]").click();
  assert.equal(palette.open, false);
  open();
  palette.click();
  assert.equal(palette.open, false);

  tab.press(tab.document.body, "Control+/");
  await tab.appears("dialog.shortcuts[open]");
  open();
  assert.equal(palette.open, false);
});

test("without shortcuts neither the palette nor other keys of the page work", async (t) => {
  const tab = await openChat(t);
  tab.document.documentElement.dataset.shortcuts = "off";

  for (const keys of ["Control+k", "Control+/", "Shift+Escape"]) tab.press(tab.document.body, keys);

  await settle();
  assert.equal(tab.count("dialog[open]"), 0);
});

test("shortcuts go to the box, a new conversation and the list of shortcuts", async (t) => {
  const tab = await openChat(t);
  const gone = [];
  tab.find("#new-chat").addEventListener("click", (event) => {
    event.preventDefault();
    gone.push("new");
  });
  tab.find("#new-chat").focus();

  tab.press(tab.focused, "Shift+Escape");
  assert.equal(tab.focused, box(tab));
  tab.press(box(tab), "Control+Shift+o");
  assert.deepEqual(gone, ["new"]);
  tab.press(tab.document.body, "Control+/");
  await tab.appears("dialog.shortcuts[open]");
  assert.deepEqual([...tab.all("dialog.shortcuts [autofocus]")].map((one) => one.title), ["Close"]);
  assert.deepEqual(tab.texts("dialog.shortcuts dt").slice(0, 3), ["Send", "New line", "Prompts, skills and commands"]);
});

test("the filters of the rail narrow the palette, and are gone when it is opened again", async (t) => {
  const { tab, field } = await openPalette(t);
  const asked = [];
  tab.network.answer("GET /conversations/search/filters/", { applications: [], tags: ["work"] });
  tab.network.answer("GET /find/*", ({ path }) => {
    asked.push(path.split("?")[1]);
    return { groups: structuredClone(GROUPS.slice(1)) };
  });
  await tab.click("Filters", await tab.appears("#palette palette-filters"));
  const palette = tab.find("#palette");
  await until(() => tab.focused?.dataset.filter, "days=7");

  tab.focused.click();
  (await tab.appears("#palette [data-filter='tag=work']")).click();
  await until(() => asked.at(-1), "q=&days=7&tag=work");
  tab.fill(field, "keyboard");
  await until(() => asked.at(-1), "q=keyboard&days=7&tag=work");
  await until(() => titles(tab), ["Rivers", "Lakes"]);
  assert.deepEqual(tab.texts("#palette .search-chips li"), ["Last 7 days", "work"]);
  await tab.click("Remove the filter Last 7 days", palette);
  await until(() => asked.at(-1), "q=keyboard&tag=work");
  assert.equal(tab.focused, field);

  palette.querySelector("[data-close]").click();
  await until(() => tab.count("#palette .search-chips"), 0);
  tab.press(tab.document.body, "Control+k");
  await until(() => asked.at(-1), "q=");
});
