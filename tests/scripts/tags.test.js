/** Tags of conversations: the dialog for one or several, the list, and the filter. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { openChat } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { until } from "./support/until.js";

/** What the list knows of a conversation. */
function row(title, tags) {
  const id = randomUUID();
  const application = { title: "Page tests", ended: false, letters: "Pt", tile: "teal", emoji: "", icon: "" };
  return { id, title, state: "done", updated_at: `2026-01-05T10:00:0${title.length}+00:00`, folder: null, address: `/chat/page-tests/${id}/`, pinned: false, archived: false, application, tags };
}

/** The chat page with conversations that have these tags. */
async function openList(t, ...rows) {
  const tab = await openChat(t);
  tab.socket.send("list.changed", { conversations: rows, deleted: [], is_whole: true });
  await tab.appears("chat-history a", rows.at(-1).title);
  tab.network.answer("GET /conversations/search/filters/", { applications: [], tags: ["old", "trips", "work"] });
  return tab;
}

async function openDialog(tab, name) {
  await tab.click(`More options for ${name}`);
  await tab.click("Tags…", await tab.appears("chat-history row-menu [role=menu]"));
  const dialog = await tab.appears("tag-dialog dialog[open]");
  await tab.appears("tag-dialog label", "trips");
  return dialog;
}

/** The offered tags, with a mark for those that are checked or partly checked. */
function choices(tab) {
  return tab.all("tag-dialog fieldset label").map((label) => {
    const { checked, indeterminate } = label.querySelector("input");
    return `${checked ? "+" : indeterminate ? "~" : ""}${textOf(label)}`;
  });
}

test("tags are shown below the title, for screen readers too", async (t) => {
  const tab = await openList(t, row("One", []), row("Three", ["trips", "work"]));

  assert.deepEqual(tab.texts(".history-tags"), ["Tags: trips work"]);
});

test("the dialog adds a new tag with Enter, removes one, and saves both with one request", async (t) => {
  const one = row("One", ["work"]);
  const tab = await openList(t, one);
  const sent = [];
  tab.network.answer(`POST ${one.address}arrange/`, ({ body }) => {
    sent.push([body.add_tags, body.remove_tags]);
    return { conversation: { ...one, tags: ["new", "trips"] } };
  });
  const dialog = await openDialog(tab, "One");
  const field = await tab.field("New tag");
  assert.equal(tab.focused, field);
  assert.deepEqual(choices(tab), ["+work", "old", "trips"]);

  tab.fill(field, " #new , TRIPS");
  tab.press(field, "Enter");
  await until(() => choices(tab), ["+new", "+work", "old", "+trips"]);
  assert.deepEqual([field.value, tab.focused === field], ["", true]);
  tab.all("tag-dialog fieldset input")[1].click();
  dialog.querySelector("form").requestSubmit();

  await until(() => tab.texts(".history-tags"), ["Tags: new trips"]);
  assert.deepEqual([sent, tab.count("tag-dialog dialog")], [[["new,trips", "work"]], 0]);
  await until(() => textOf(tab.find("#said")), "Tags saved.");
});

test("a tag that only some of the selected conversations have stays as it is unless it is changed", async (t) => {
  const rows = [row("One", ["work", "old"]), row("Three", ["work"])];
  const tab = await openList(t, ...rows);
  const sent = [];
  tab.network.answer("POST /conversations/selected/", ({ body }) => {
    sent.push([body.conversations.split(",").length, body.add_tags, body.remove_tags]);
    return { changed: rows.map(({ id }) => id), conversations: rows.map((one) => ({ ...one, tags: ["trips"] })) };
  });
  await tab.click("More options for One");
  await tab.click("Select", await tab.appears("chat-history row-menu [role=menu]"));
  await tab.click("Select all");
  await tab.click("Tag…", tab.find("selection-bar"));
  await tab.appears("tag-dialog label", "trips");
  assert.deepEqual([textOf(tab.find("tag-dialog .dialog-detail")), choices(tab)], ["2 conversations", ["+work", "~old", "trips"]]);

  tab.all("tag-dialog fieldset input")[0].click();
  tab.all("tag-dialog fieldset input")[2].click();
  await tab.click("Save", tab.find("tag-dialog"));

  await until(() => tab.count("selection-bar"), 0);
  assert.deepEqual(sent, [[2, "trips", "work"]]);
});

test("a change that the server refuses is explained in the dialog", async (t) => {
  const one = row("One", []);
  const tab = await openList(t, one);
  tab.network.answer(`POST ${one.address}arrange/`, Response.json({ error: { code: "too_many", message: "Too many." } }, { status: 409 }));
  const dialog = await openDialog(tab, "One");
  tab.fill(await tab.field("New tag"), "more");

  dialog.querySelector("form").requestSubmit();

  await tab.shows("tag-dialog .field-error", "Too many.");
  assert.deepEqual(choices(tab)[0], "+more");
});

test("the search filters by one tag at a time", async (t) => {
  const tab = await openList(t, row("One", []));
  const asked = [];
  tab.network.answer("GET /conversations/search/?*", ({ path }) => {
    asked.push(path.split("?")[1]);
    return { hits: [] };
  });
  await tab.click("Filters");

  (await tab.appears("[data-filter='tag=work']")).click();
  await until(() => asked.at(-1), "tag=work");
  tab.find("[data-filter='tag=trips']").click();

  await until(() => asked.at(-1), "tag=trips");
  assert.deepEqual(tab.texts(".search-chips li"), ["trips"]);
});
