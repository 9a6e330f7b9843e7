/** The filters of the search in the rail. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { openChat } from "./support/chat.js";
import { until } from "./support/until.js";

const SEARCH = "/conversations/search/?";

/** A chat whose search answers with a hit that is named after the query of its address. */
async function openRail(t) {
  const tab = await openChat(t);
  const asked = [];
  tab.network.answer("GET /conversations/search/filters/", { applications: [{ slug: "desk", title: "Service desk" }] });
  tab.network.answer(`GET ${SEARCH}*`, ({ path }) => {
    const query = path.slice(SEARCH.length);
    asked.push(query);
    const hit = { id: randomUUID(), title: query, address: "/chat/desk/", application: { title: "Desk", letters: "D", tile: "0" }, excerpt: "", message: "" };
    return { hits: [hit] };
  });
  return { tab, asked };
}

test("filters work alone and with words, and are in the address of the search", async (t) => {
  const { tab, asked } = await openRail(t);
  await tab.click("Filters");
  const week = await tab.appears("[data-filter='days=7']");
  assert.equal(tab.focused, week);

  week.click();
  await until(() => asked, ["days=7"]);
  (await tab.appears("[data-filter='app=desk']")).click();
  await until(() => asked.at(-1), "days=7&app=desk");
  tab.find("[data-filter='has=code']").click();
  tab.find("[data-filter='has=files']").click();
  tab.find("[data-filter='days=30']").click();
  await until(() => asked.at(-1), "app=desk&has=code&has=files&days=30");
  tab.fill(await tab.field("Search conversations"), "rivers");

  await until(() => asked.at(-1), "q=rivers&app=desk&has=code&has=files&days=30");
  await tab.appears(".hits a", "q=rivers&app=desk&has=code&has=files&days=30");
  assert.equal(tab.count(".search-chips li"), 4);
});

test("a chip removes its filter, and Escape removes all", async (t) => {
  const { tab, asked } = await openRail(t);
  await tab.click("Filters");
  (await tab.appears("[data-filter='days=7']")).click();
  (await tab.appears("[data-filter='has=code']")).click();
  await tab.appears(".search-chips");

  await tab.click("Remove the filter Last 7 days");
  await until(() => asked.at(-1), "has=code");
  assert.equal(tab.focused, await tab.field("Search conversations"));
  tab.press(tab.focused, "Escape");

  await until(() => [tab.count(".search-chips"), tab.count(".hits")], [0, 0]);
});

test("arrows move in the menu of filters, and a chosen filter is chosen only once", async (t) => {
  const { tab, asked } = await openRail(t);
  await tab.click("Filters");
  const week = await tab.appears("[data-filter='days=7']");
  await tab.appears("[data-filter='app=desk']");

  tab.press(week, "ArrowDown");
  assert.equal(tab.focused.dataset.filter, "days=30");
  tab.press(tab.focused, "End");
  assert.equal(tab.focused.dataset.filter, "app=desk");
  tab.focused.click();
  await until(() => asked.at(-1), "app=desk");
  assert.equal(tab.find("[data-filter='app=desk']").getAttribute("aria-checked"), "true");
  tab.find("[data-filter='app=desk']").click();

  await until(() => tab.count(".search-chips"), 0);
});
