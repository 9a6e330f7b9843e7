/** Cards in which an answer asks the person something. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, box, openChat, reload, send } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { settle, until } from "./support/until.js";

const QUESTION = {
  title: "The trip",
  question: "Where shall it go?",
  input: "single",
  options: [{ label: "Riga", description: "By the sea" }, { label: "Oslo" }],
  freeform: true,
};
const WORDS = { question: "Where to?", input: "text", options: [], freeform: true };
const CALL = {
  title: "Pay",
  name: "pay",
  arguments: { amount: 5, city: "Oslo" },
  editable: { city: { type: "string" } },
  labels: { city: "Home town" },
  risk: "changes",
  always: ["conversation", "application"],
  four_eyes: false,
};
const CARD = "section.interaction";

/** A page whose answer waits for the person. */
async function openCard(t, kind, asked, due = null) {
  const tab = await openChat(t);
  await ask(tab, "Plan a trip");
  const place = { key: "t:1:0:a", kind };
  tab.socket.say("interaction.requested", { ...place, asked, due });
  tab.socket.say("run.status", { status: "waiting" });
  await tab.appears(CARD);
  return { tab, place, card: () => tab.find(CARD) };
}

/** The last answer that the page sent. */
function sent(tab) {
  return tab.socket.frames("answer").at(-1)?.answer ?? null;
}

test("a card that appears has the focus, and its heading is read out", async (t) => {
  const { tab, card } = await openCard(t, "question", QUESTION);

  await until(() => tab.focused === card(), true);
  await tab.shows("#warned", "Your input is needed: The trip");
  assert.equal(tab.document.title, "Waiting for you · A conversation · Page tests");
  assert.equal(tab.find(".working"), null);
  assert.equal(tab.find("#card-notice").hidden, true);
});

test("a card does not take the focus while the person types", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Plan a trip");
  tab.fill(box(tab), "And then");
  tab.socket.say("interaction.requested", { key: "a", kind: "approval", asked: CALL, due: null });
  tab.socket.say("run.status", { status: "waiting" });
  await tab.appears(CARD);
  await settle();
  assert.equal(tab.focused, box(tab));

  tab.find("#card-notice").click();
  await until(() => tab.focused === tab.find(CARD), true);
});

test("a question is answered with a choice and words", async (t) => {
  const { tab, place } = await openCard(t, "question", QUESTION);
  tab.find(`${CARD} input[value=Oslo]`).click();
  const words = tab.find(`${CARD} textarea`);
  tab.fill(words, "In May.");
  tab.press(words, "Enter");

  const answer = { outcome: "answered", choices: ["Oslo"], text: "In May." };
  await until(() => tab.socket.received.at(-1), { type: "answer", run: tab.socket.run, ...place, answer });
  await until(() => tab.find(".interaction .fields").disabled, true);
  tab.socket.say("interaction.resolved", { ...place, answer, by: "you", at: 1.5 });
  await tab.shows(".decision-title", "The trip");
  assert.match(textOf(tab.find(".decision")), /Answered by you, .*: Oslo, In May\./);
  await until(() => tab.focused === box(tab), true);
});

test("an answer without anything in it is not sent, and a question can be skipped", async (t) => {
  const { tab } = await openCard(t, "question", QUESTION);
  await tab.click("Answer");
  await tab.shows(".interaction .field-error", "Choose or enter an answer, or skip the question.");
  assert.equal(sent(tab), null);

  await tab.click("Skip");
  await until(() => sent(tab), { outcome: "skipped", choices: [], text: "" });
});

// @proves("D-43")
test("the composer answers a question that takes words", async (t) => {
  const { tab, place } = await openCard(t, "question", WORDS);
  await until(() => box(tab).placeholder, "Answer the question above…");
  await tab.shows(".composer-hint", "Press Enter to answer the question above.");

  send(tab, "Riga");
  await until(() => tab.find(".interaction .fields").disabled, true);
  const answer = { outcome: "answered", choices: [], text: "Riga" };
  await until(() => tab.socket.received.at(-1), { type: "answer", run: tab.socket.run, ...place, answer });
  tab.socket.refuse("Try again.", "internal_error");
  await until(() => box(tab).value, "Riga");

  await until(() => box(tab).placeholder, "Answer the question above…");
  tab.press(box(tab), "Enter");
  await until(() => tab.socket.frames("answer").length, 2);
  tab.socket.say("interaction.resolved", { ...place, answer, by: "you", at: 1.5 });
  await tab.appears(".decision", "Answered by you");
  assert.equal(box(tab).value, "");
});

test("an answer that may be lost with the connection is returned to the box", async (t) => {
  const { tab } = await openCard(t, "question", WORDS);
  await until(() => box(tab).placeholder, "Answer the question above…");
  send(tab, "Riga");
  await until(() => sent(tab)?.text, "Riga");

  tab.socket.cut();

  await tab.shows("#problem:not([hidden])", "The connection was lost. Send your answer again.");
  await until(() => box(tab).value, "Riga");
});

for (const four_eyes of [false, true]) {
  test(`a card ${four_eyes ? "for somebody else" : "for the person"} shows why it asks`, async (t) => {
    const because = "This conversation has read untrusted content: <b>web page</b> example.org.";
    const { tab } = await openCard(t, "approval", { ...CALL, four_eyes, because });

    await tab.shows(`${CARD} .because`, because);
    await tab.shows(`${CARD} .risk`, "Makes changes");
    assert.equal(tab.hasButton("Approve"), !four_eyes);
    assert.equal(textOf(tab.find(CARD)).includes("Another user must approve or deny this call"), four_eyes);
  });
}

test("a call is approved with a changed argument, for a while", async (t) => {
  const { tab, place } = await openCard(t, "approval", CALL);
  await until(() => tab.find(`${CARD} [name=always] [value=application]`) !== null, true);
  const city = await tab.field("Home town", tab.find(CARD));
  tab.fill(city, "Riga");
  tab.find(`${CARD} [name=always]`).value = "application";
  await tab.click("Approve");

  const answer = { outcome: "approved", arguments: { city: "Riga" }, always: "application" };
  await until(() => sent(tab), answer);
  tab.socket.say("interaction.resolved", { ...place, answer, by: "you", at: 1.5 });
  await tab.appears(".decision", "with changes to Home town.");
  assert.equal(tab.find(".decision a").getAttribute("href"), "/approvals/");
});

test("an approved call is one row with its step", async (t) => {
  const { tab, place } = await openCard(t, "approval", CALL);
  tab.socket.say("interaction.resolved", { ...place, answer: { outcome: "approved" }, by: "you", at: 1.5 });
  await tab.appears(".decision", "Approved by you");

  tab.socket.say("stage.opened", { stage: "1", title: "Pay", parent: null });

  await tab.appears(".step-decision", "Approved by you");
  assert.equal(tab.count(".decision"), 0);
});

test("a call is denied with Enter where the reason is written", async (t) => {
  const { tab, place } = await openCard(t, "approval", CALL);
  const reason = await tab.field("Reason for denying (optional)", tab.find(CARD));
  tab.fill(reason, "It is late.");
  tab.press(reason, "Enter");

  const answer = { outcome: "denied", reason: "It is late." };
  await until(() => sent(tab), answer);
  assert.equal(tab.socket.frames("answer").length, 1);
  tab.socket.say("interaction.resolved", { ...place, answer, by: "you", at: 1.5 });
  await tab.appears(".decision", /Denied by you, .*: It is late\./);
  await until(() => tab.focused === box(tab), true);
});

test("a card that waits has the focus when its page is opened", async (t) => {
  const { tab: first } = await openCard(t, "approval", CALL);
  const tab = await reload(t, first);

  await tab.appears(CARD);
  await until(() => tab.focused === tab.find(CARD), true);
});

test("a card shows the remaining time, and Escape leaves it without a decision", async (t) => {
  const { tab } = await openCard(t, "approval", CALL, Date.now() / 1000 + 3600);
  await until(() => box(tab).placeholder, "Answer above first");
  await tab.shows("[role=timer]", /^(1 h|60 min|59 min 5\d s).* left$/);

  tab.press(tab.find(CARD), "Escape");

  assert.equal(tab.focused, box(tab));
  await settle();
  assert.deepEqual([sent(tab), tab.socket.frames("stop")], [null, []]);
});

test("a stopped answer asks nothing any more", async (t) => {
  const { tab } = await openCard(t, "approval", CALL);
  await tab.click("Stop");

  await tab.appears(".decision", "Not decided: the answer ended first.");
  assert.equal(tab.count(CARD), 0);
});

test("a card that was answered on another page is closed", async (t) => {
  const { tab, place } = await openCard(t, "approval", CALL);
  tab.socket.say("interaction.resolved", { ...place, answer: { outcome: "approved" }, by: "Ada", at: 1.5 });

  await tab.appears(".decision", "Approved by Ada");
  await tab.shows(".working", "Queued…");
  assert.equal(tab.count(CARD), 0);
});

const PAGE = { message: "Pay for it.", mode: "url", url: "https://pay.example.org/1?a=<b>", host: "pay.example.org" };

test("the host of a page is shown before it is opened", async (t) => {
  const { tab, place } = await openCard(t, "elicitation", PAGE);
  await tab.shows(".interaction-host", "pay.example.org");
  const link = tab.find(`${CARD} a`);
  assert.deepEqual([textOf(link), link.getAttribute("href"), link.rel, link.target], [
    "Open pay.example.org",
    "https://pay.example.org/1?a=<b>",
    "noopener noreferrer",
    "_blank",
  ]);
  await tab.click("Decline");

  await until(() => sent(tab), { outcome: "declined" });
  tab.socket.say("interaction.resolved", { ...place, answer: { outcome: "declined" }, by: "you", at: 1.5 });
  await tab.appears(".decision", "Declined by you");
});

test("a page that a call needs is opened before the call is made again", async (t) => {
  const { tab } = await openCard(t, "elicitation", { ...PAGE, repeats: true });
  const link = tab.find(`${CARD} a`);
  link.addEventListener("click", (event) => event.preventDefault());
  link.click();
  await tab.appears(`${CARD} .hint`, "When you’re done, return to this page and choose “Done”. The tool then runs again.");
  assert.equal(sent(tab), null);

  await tab.click("Done");

  await until(() => sent(tab), { outcome: "accepted" });
});

test("a form of a server returns values of their types, without what is left empty", async (t) => {
  const fields = [
    { name: "name", label: "Name", hint: "", type: "string", required: true },
    { name: "note", label: "Note", hint: "", type: "string", required: false },
    { name: "class", label: "Class", hint: "", type: "choice", required: true, options: [{ value: "b", label: "Second" }] },
    { name: "bags", label: "Bags", hint: "", type: "integer", required: true, default: 2 },
    { name: "window", label: "Window", hint: "", type: "boolean", required: false },
    { name: "meals", label: "Meals", hint: "", type: "choices", required: false, options: [{ value: "rice", label: "Rice" }] },
  ];
  const { tab, card } = await openCard(t, "elicitation", { message: "Book it.", mode: "form", fields });
  tab.fill(await tab.field("Name", card()), "Ann");
  tab.choose(await tab.field("Class", card()), "b");
  (await tab.field("Window", card())).click();
  (await tab.field("Rice", card())).click();
  await tab.click("Send", card());

  const content = { name: "Ann", class: "b", bags: 2, window: true, meals: ["rice"] };
  await until(() => sent(tab), { outcome: "accepted", content });
});
