/** Answers of several models to one question, side by side. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { Network } from "./support/network.js";
import { until } from "./support/until.js";

const MODELS = [
  { id: "quick", title: "Quick" },
  { id: "careful", title: "Careful" },
  { id: "large", title: "Large" },
];

/** A page with an answered question, whose app offers models, and the answers that the server has stored. */
async function openAnswered(t, attributes = { feedback: "yes" }) {
  const network = new Network();
  network.answer("GET /chat/page-tests/composer/*", { prompts: [], skills: [], applications: [], files: [], efforts: [], effort: "", models: MODELS, model: "" });
  const tab = await openChat(t, { attributes, network });
  const stored = [];
  await ask(tab, "Where to?");
  tab.network.answer(`GET /chat/page-tests/${tab.socket.conversation}/answers/*`, () => ({ answers: stored }));
  finish(tab, stored, "quick", "Oslo");
  await tab.appears(".answer-foot");
  return { tab, stored };
}

/** The model has answered. */
function finish(tab, stored, model, text) {
  tab.socket.write(text);
  const id = crypto.randomUUID();
  for (const one of stored) one.is_shown = false;
  stored.push({ id, text, attachments: [], finish_reason: "stop", models: [model], seconds: 1, is_shown: true });
  tab.socket.end("done", { id, models: [model] });
}

async function openComparison(tab) {
  await tab.click("More options for this answer");
  await tab.click("Compare models");
  await tab.appears("dialog.comparison h3", "Quick");
  return tab.find("dialog.comparison");
}

const heads = (tab, ...heads) => tab.shows(".comparison-column h3", ...heads);

test("further models answer one after the other, next to the first answer", async (t) => {
  const { tab, stored } = await openAnswered(t);
  const dialog = await openComparison(tab);
  await heads(tab, "Quick 1.0 s", "Another model");
  await tab.shows(".comparison-models button", "Careful", "Large");
  await tab.shows(".comparison-head p", "Where to?");
  assert.equal(tab.count(".comparison-act button"), 0);

  await tab.click("Careful", dialog);
  await tab.click("Large", dialog);
  await heads(tab, "Quick 1.0 s", "Careful", "Large");
  await until(() => tab.socket.frames("ask").map(({ again, deployment }) => [Boolean(again), deployment]), [[false, ""], [true, "careful"]]);
  tab.socket.write("Ro");
  await tab.appears(".comparison-column[data-kind=running] markdown-text", "Ro");
  finish(tab, stored, "careful", "Rome");
  await until(() => tab.socket.frames("ask").at(-1).deployment, "large");
  await tab.appears(".comparison-column[data-kind=running]");
  finish(tab, stored, "large", "Lima");

  await heads(tab, "Quick 1.0 s", "Careful 1.0 s", "Large 1.0 s");
  await tab.shows(".comparison-act", "Pick this answer", "Pick this answer", "Pick this answer");
});

test("a model that has answered keeps its column and its text while the answers are loaded", async (t) => {
  const { tab, stored } = await openAnswered(t);
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await until(() => tab.socket.frames("ask").length, 2);
  let resolve = () => {};
  const promise = new Promise((done) => (resolve = done));
  tab.network.answer(`GET /chat/page-tests/${tab.socket.conversation}/answers/*`, () => promise);
  finish(tab, stored, "careful", "Rome");
  await tab.shows("#said", "Careful has answered.");
  await heads(tab, "Quick 1.0 s", "Careful", "Another model");
  await tab.shows(".comparison-column[data-kind=running] .comparison-text", "Rome");
  await tab.click("Large", dialog);
  await heads(tab, "Quick 1.0 s", "Careful", "Large");
  assert.equal(tab.socket.frames("ask").at(-1).deployment, "careful");

  resolve(Response.json({ answers: stored }));
  await heads(tab, "Quick 1.0 s", "Careful 1.0 s", "Large");
  await until(() => tab.socket.frames("ask").at(-1).deployment, "large");
});

test("an answer to an earlier question does not end the comparison while another branch is loaded", async (t) => {
  const { tab, stored } = await openAnswered(t);
  await ask(tab, "And then?");
  finish(tab, [], "quick", "Bergen");
  await until(() => tab.count(".answer-foot"), 2);
  const said = [];
  const region = tab.find("#said");
  new tab.window.MutationObserver(() => said.push(region.textContent)).observe(region, { childList: true, subtree: true, characterData: true });
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await until(() => tab.socket.frames("ask").length, 3);
  tab.socket.write("Vo");
  await tab.shows(".comparison-column[data-kind=running] .comparison-text", "Vo");
  assert.equal(said.includes("Careful has answered."), false);

  finish(tab, stored, "careful", "ss");
  await tab.shows("#said", "Careful has answered.");
});

test("a model that was chosen during another answer is asked after it", async (t) => {
  const { tab, stored } = await openAnswered(t);
  const dialog = await openComparison(tab);
  tab.socket.begin({ text: "Of another tab" });
  tab.socket.write("Wait");
  await tab.appears("#log .answer-text, chat-log .answer-text", "Wait");

  await tab.click("Careful", dialog);
  await heads(tab, "Quick 1.0 s", "Careful", "Another model");
  assert.equal(tab.socket.frames("ask").length, 1);
  tab.socket.end("done", { text: "Wait" });

  await until(() => tab.socket.frames("ask").at(-1).deployment, "careful");
  finish(tab, stored, "careful", "Rome");
  await heads(tab, "Quick 1.0 s", "Careful 1.0 s", "Another model");
});

test("a model whose title is stored with its answer is not offered again", async (t) => {
  const { tab, stored } = await openAnswered(t);
  stored[0].models = ["Quick"];

  await openComparison(tab);

  await tab.shows(".comparison-models button", "Careful", "Large");
});

test("the picked answer is shown and rated, with the names of the others", async (t) => {
  const { tab, stored } = await openAnswered(t);
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await until(() => tab.socket.frames("ask").length, 2);
  finish(tab, stored, "careful", "Rome");
  await heads(tab, "Quick 1.0 s", "Careful 1.0 s", "Another model");
  const [first] = stored;
  const before = { rating: "", reason: "", comment: "Nice.", shares_transcript: false };
  tab.network.answer(`GET /feedback/?message=${first.id}`, { feedback: { [first.id]: before } });
  const path = `/messages/${first.id}/feedback/`;
  tab.network.answer(`POST ${path}`, ({ body }) => ({ feedback: { ...before, ...body } }));

  tab.all(".comparison-act button")[0].click();

  await until(() => tab.socket.frames("branch.switch").map(({ message }) => message), [first.id]);
  const { rating, comment } = tab.network.sent(path)[0].body;
  assert.deepEqual([rating, comment], ["up", "Nice.\nPreferred to: Careful"]);
  await until(() => tab.count("dialog.comparison"), 0);
});

test("the answer that is shown is picked without a change of the branch", async (t) => {
  const { tab, stored } = await openAnswered(t, { feedback: "" });
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await until(() => tab.socket.frames("ask").length, 2);
  finish(tab, stored, "careful", "Rome");
  await until(() => tab.count(".comparison-act button"), 2);

  tab.find(".comparison-act button").click();

  await until(() => tab.count("dialog.comparison"), 0);
  assert.deepEqual(tab.socket.frames("branch.switch"), []);
  assert.deepEqual(tab.network.requests.filter(({ method }) => method === "POST"), []);
});

test("stopping stops the running answer and asks no further model", async (t) => {
  const { tab, stored } = await openAnswered(t);
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await tab.click("Large", dialog);
  await until(() => tab.socket.frames("ask").length, 2);
  tab.socket.write("Ro");
  stored.push({ ...stored[0], id: crypto.randomUUID(), text: "Ro", models: ["careful"], finish_reason: "stopped", is_shown: true });
  await tab.click("Stop", dialog);

  await heads(tab, "Quick 1.0 s", "Careful 1.0 s", "Another model");
  await tab.shows(".comparison-text .notice", "The answer is incomplete.");
  assert.equal(tab.socket.frames("ask").length, 2);
});

test("a refusal ends the comparison and gives the reason", async (t) => {
  const { tab } = await openAnswered(t);
  const dialog = await openComparison(tab);
  tab.socket.deaf = true;
  await tab.click("Careful", dialog);
  await tab.click("Large", dialog);
  await until(() => tab.socket.frames("ask").length, 2);
  for (const viewer of tab.socket.viewers) viewer.receive({ type: "error", code: "budget_spent", text: "Your budget is used up." });

  await tab.shows(".comparison-problem", "Your budget is used up.");
  await heads(tab, "Quick 1.0 s", "Another model");
});

test("a waiting model can be removed, and closing leaves the running answer", async (t) => {
  const { tab } = await openAnswered(t);
  const dialog = await openComparison(tab);
  await tab.click("Careful", dialog);
  await tab.click("Large", dialog);
  await tab.click("Remove", dialog);
  await heads(tab, "Quick 1.0 s", "Careful", "Another model");
  await tab.click("Close", dialog);

  await until(() => tab.count("model-comparison"), 0);
  assert.deepEqual(tab.socket.frames("stop"), []);
});
