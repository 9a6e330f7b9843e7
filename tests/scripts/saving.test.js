/** Settings that are saved when they change: only what changed, one request after the other, and nothing is lost. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTab, textOf } from "./support/tab.js";
import { settle, until } from "./support/until.js";

const NOTICES = "POST /account/notices/";
const saved = () => new Response(null, { status: 204 });

async function openAccount(t, change) {
  const tab = await openTab(t, "account", { path: "/account/", change });
  const sent = () => tab.network.requests.filter(({ method }) => method === "POST").map(({ body }) => fieldsOf(body));
  const toast = () => textOf(tab.find("chat-toast"));
  return { tab, sent, toast };
}

/** What a request changes. */
function fieldsOf(body) {
  return [...body].filter(([name]) => name !== "csrfmiddlewaretoken").map((pair) => pair.join("="));
}

/** Replace a field's text and leave it. */
function write(tab, field, text, next = null) {
  field.value = text;
  field.dispatchEvent(new tab.window.InputEvent("input", { bubbles: true }));
  field.dispatchEvent(new tab.window.Event("change", { bubbles: true }));
  field.dispatchEvent(new tab.window.FocusEvent("focusout", { bubbles: true, relatedTarget: next }));
}

test("a name is saved once it is complete, shown in the sidebar, and undone", async (t) => {
  const { tab, sent, toast } = await openAccount(t);
  tab.network.answer("POST /account/name/", saved);
  const name = tab.find("#name-form [name=name]");
  tab.fill(name, "Ada");
  assert.deepEqual(sent(), []);
  write(tab, name, "Ada Lovelace");

  await until(toast, "Saved. Undo");
  assert.deepEqual(sent(), [["changed=name", "name=Ada Lovelace"]]);
  assert.deepEqual(tab.texts("[data-own-name]"), ["Ada Lovelace", "Ada Lovelace"]);
  assert.equal(textOf(tab.find("[data-initial]")), "A");

  await tab.click("Undo");
  await until(() => tab.texts("[data-own-name]"), ["operator", "operator"]);
  assert.deepEqual([sent().at(-1), name.value], [["changed=name", "name="], ""]);
});

test("both ends of the quiet hours are sent together, and nothing else", async (t) => {
  const { tab, sent, toast } = await openAccount(t);
  tab.network.answer(NOTICES, saved);
  const [from, until_] = ["quiet_from", "quiet_until"].map((name) => tab.find(`#notice-form [name=${name}]`));
  const zone = tab.find("#notice-form [name=time_zone]").value; // it is that of the browser
  write(tab, from, "22:00", until_);
  await settle();
  assert.deepEqual(sent(), []);
  write(tab, until_, "07:00");

  await until(toast, "Saved. Undo");
  const expected = ["changed=quiet_from", "quiet_from=22:00", "changed=quiet_until", "quiet_until=07:00"];
  assert.deepEqual(sent(), [zone === "UTC" ? expected : [...expected, "changed=time_zone", `time_zone=${zone}`]]);
});

test("an error is shown at its field, which keeps its value until it is corrected", async (t) => {
  const { tab, toast } = await openAccount(t);
  const problem = "Enter a valid time zone, such as Europe/Riga.";
  tab.network.answer(NOTICES, () => Response.json({ time_zone: [problem] }, { status: 400 }));
  const zone = tab.find("#notice-form [name=time_zone]");
  write(tab, zone, "Africa/Cairo");

  await tab.shows(".save-problem", problem);
  assert.deepEqual([zone.value, zone.getAttribute("aria-invalid")], ["Africa/Cairo", "true"]);
  assert.equal(textOf(tab.document.getElementById(zone.getAttribute("aria-describedby"))), problem);
  assert.equal(tab.window.dispatchEvent(new tab.window.Event("beforeunload", { cancelable: true })), false);
  await until(() => textOf(tab.find("#said")), problem);

  tab.network.answer(NOTICES, saved);
  write(tab, zone, "Europe/Riga");
  await until(toast, "Saved. Undo");
  assert.deepEqual([tab.count(".save-problem"), zone.hasAttribute("aria-invalid"), zone.hasAttribute("aria-describedby")], [0, false, false]);
  assert.ok(tab.window.dispatchEvent(new tab.window.Event("beforeunload", { cancelable: true })));
});

for (const [why, answer, told] of [
  ["the connection is lost", null, "This change isn’t saved. Check your connection and try again."],
  ["the server fails", () => new Response("", { status: 500 }), "This change isn’t saved. Check your connection and try again."],
  ["the user is signed out", () => new Response("", { status: 403 }), "This change isn’t saved. Reload the page and sign in again."],
]) {
  test(`a change is not lost if ${why}`, async (t) => {
    const { tab, toast } = await openAccount(t);
    if (answer) tab.network.answer("POST /account/name/", answer);
    else tab.network.isDown = true;
    const name = tab.find("#name-form [name=name]");
    write(tab, name, "Ada");

    await tab.shows(".save-problem p", told);
    assert.equal(name.value, "Ada");
    tab.network.isDown = false;
    tab.network.answer("POST /account/name/", saved);
    await tab.click("Try again");
    await until(toast, "Saved. Undo");
    assert.equal(tab.count(".save-problem"), 0);
  });
}

test("a change during a slow request is saved after it", async (t) => {
  const { tab, sent } = await openAccount(t);
  let respond;
  tab.network.answer("POST /account/name/", () => new Promise((resolve) => (respond = () => resolve(saved()))));
  const name = tab.find("#name-form [name=name]");
  write(tab, name, "Ada");
  await until(() => sent().length, 1);
  write(tab, name, "Ada Lovelace");
  await settle();
  assert.equal(sent().length, 1);
  tab.network.answer("POST /account/name/", saved);
  respond();

  await until(sent, [["changed=name", "name=Ada"], ["changed=name", "name=Ada Lovelace"]]);
});

test("a text that is being written is saved when the page is left, also during a slow request", async (t) => {
  const { tab, sent } = await openAccount(t);
  tab.network.answer("POST /account/name/", () => new Promise(() => {}));
  const name = tab.find("#name-form [name=name]");
  tab.window.dispatchEvent(new tab.window.Event("pagehide"));
  tab.fill(name, "Ada");
  assert.ok(tab.window.dispatchEvent(new tab.window.Event("beforeunload", { cancelable: true })));
  await until(sent, [["changed=name", "name=Ada"]]);
  tab.window.dispatchEvent(new tab.window.Event("pagehide"));
  tab.fill(name, "Ada Lovelace");
  tab.window.dispatchEvent(new tab.window.Event("pagehide"));

  await until(sent, [["changed=name", "name=Ada"], ["changed=name", "name=Ada Lovelace"]]);
});

test("a change before the scripts are loaded is sent, and not overwritten", async (t) => {
  const { tab, sent } = await openAccount(t, (document) => (document.querySelector("#notice-form [name=time_zone]").value = "Europe/Riga"));

  await until(sent, [["changed=time_zone", "time_zone=Europe/Riga"]]);
  assert.equal(tab.find("#notice-form [name=time_zone]").value, "Europe/Riga");
});
