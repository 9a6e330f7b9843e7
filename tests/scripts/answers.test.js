/** What an answer becomes on the page: its parts, sources, numbers, and what is read out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";
import { textOf } from "./support/tab.js";
import { until } from "./support/until.js";

test("the parts of an answer keep their order", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "First, then");

  tab.socket.write("Let me look.");
  tab.socket.step("Look");
  tab.socket.write("\n\nThere it is.");
  tab.socket.end();

  await tab.shows("chat-answer > markdown-text, .step-title", "Let me look.", "Look", "There it is.");
});

test("an answer that another process continues shows it and repeats nothing", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "What survives?");
  socket.write("It looks. ");
  socket.say("stage.opened", { stage: "1", title: "Look", parent: null });
  socket.write("Half of a sen");

  socket.say("stage.closed", { stage: "1", failed: true, seconds: 0 });
  socket.say("run.continued");
  socket.say("run.status", { status: "running" });
  socket.say("answer.restarted", { text: "It looks. ", attachments: [], annotations: [] });
  socket.step("Look", { stage: "1", seconds: 1.2 });
  socket.write("A sentence.");
  socket.end("done", { text: "It looks. A sentence." });

  await tab.shows("chat-answer > markdown-text, .step-title", "It looks.", "Look", "A sentence.");
  await tab.shows(".step-state", "Done");
  await tab.shows("chat-answer .notice", "This answer continued after an interruption.");
});

test("anchors become numbers that link to their sources", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Cite");
  tab.socket.write('It is warm<cit data-id="b"></cit><cit data-id="a"></cit>', ' and dry<cit data-id="x');
  tab.socket.write('"></cit>, they say<cit data-id="c"></cit>.\n\n<cit onclick="alert(1)">evil</cit>');
  const annotations = [
    { id: "a", title: "<b>Report</b>", url: "https://example.org/a?b=1" },
    { id: "b", url_citation: { title: "Second", url: "http://example.org/b" } },
    { id: "c", title: "Nowhere", url: "javascript:alert(1)" },
  ];
  for (const annotation of annotations) tab.socket.say("annotation.added", { annotation });
  tab.socket.end();

  await tab.shows("chat-answer .citation", "2", "1", "3");
  await tab.shows("markdown-text p", "It is warm21 and dry, they say3.", '<cit onclick="alert(1)">evil');
  const links = tab.all(".answer-text a").map((link) => [link.getAttribute("href"), link.getAttribute("aria-label")]);
  assert.deepEqual(links, [
    ["http://example.org/b", "Source 2: Second"],
    ["https://example.org/a?b=1", "Source 1: <b>Report</b>"],
  ]);
  tab.all(".answer-text a")[1].focus();
  await tab.shows("[role=tooltip] .citation-title", "<b>Report</b>");
});

test("files of the reader are linked to where they are shown", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Where is it?");
  tab.socket.write(
    'There<cit data-id="a"></cit><cit data-id="b"></cit>, [in the plan](files/user-7/The%20plan.pdf), ' +
      "[no](files/../admin/), ![chart](files/user-7/chart.png) ![no](files/user-7/chart.exe)",
  );
  tab.socket.say("annotation.added", { annotation: { id: "a", url: "files/user-7/The%20plan.pdf" } });
  tab.socket.say("annotation.added", { annotation: { id: "b", url: "files/user-7/../../admin/" } });
  tab.socket.end("done", { attachments: [{ type: "text/plain", url: "files/../admin/", title: "No" }] });

  await tab.shows(".citation", "1", "2");
  await tab.appears(".answer-foot");
  const paths = tab.all(".answer-text a[href]").map((link) => new URL(link.href).pathname);
  assert.deepEqual(paths, ["/files/user-7/The%20plan.pdf", "/files/user-7/The%20plan.pdf", "/files/user-7/chart.png"]);
  assert.equal(tab.all(".answer-text a")[0].getAttribute("aria-label"), "Source 1: The plan.pdf");
  assert.deepEqual(tab.all("markdown-text img").map((picture) => picture.getAttribute("src")), ["/files/user-7/chart.png"]);
  assert.equal(tab.all("markdown-text img")[0].closest("a").getAttribute("href"), "/files/user-7/chart.png");
});

test("only numbers of a cited source become links", async (t) => {
  const cite = (title, sentence, address) => ({ type: "text/plain", title, data: sentence, ...(address && { reference_url: address }) });
  const cited = [
    cite("[3] notes.txt", "<b>Bold</b>"),
    cite("[1] rules.pdf, page 3", "It is so.", "files/user-7/rules.pdf#page=3"),
    cite("[4] far.pdf, page 9", "Far away.", "https://example.org/far.pdf#page=9"),
    cite("[5] evil.pdf", "Evil.", "javascript:alert(1)"),
  ];
  const others = [
    { type: "text/plain", title: "Log", data: "[1] a line" },
    cite("[2] whole.txt", "This is no sentence. ".repeat(40)),
  ];
  const tab = await openChat(t);
  await ask(tab, "Cite");
  tab.socket.write("It is so [1", "][3], not so [2]: `a[1]` $x[1]$ [see [1]](https://example.org/)\n\n");
  tab.socket.write("```python\nprint(a[1])\n```\n\nRaised<sup>[3]</sup> and [4].");
  for (const attachment of [...cited, ...others]) tab.socket.say("attachment.added", { attachment });
  tab.socket.end("done", { attachments: [...cited, ...others] });

  await tab.appears(".answer-foot");
  await tab.shows("chat-answer .citation", "1", "3", "3", "4");
  assert.match(tab.texts("chat-answer markdown-text p")[0], /^It is so 13, not so \[2\]: a\[1\]/);
  assert.equal(tab.count("sup sup"), 0);
  await tab.shows("markdown-text pre", "print(a[1])");
  tab.all(".citation")[1].dispatchEvent(new tab.window.Event("pointerover", { bubbles: true }));
  await tab.shows("[role=tooltip] p", "notes.txt", "“<b>Bold</b>”");
  assert.deepEqual(tab.texts(".sources li"), [
    "1 rules.pdf, page 3 It is so.",
    "3 notes.txt <b>Bold</b>",
    "4 far.pdf, page 9 (example.org) Far away.",
    "5 evil.pdf Evil.",
  ]);
  assert.equal(tab.count(".sources a"), 2);
  await tab.shows("chat-answer .attachment summary", "Log", "[2] whole.txt");
});

test("text that streamed ends up like text that came at once", async (t) => {
  const text =
    "See [the page][1].\n\n- one\n\n- two\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
    "The sum is $\\frac{1}{2}$.\n\n[1]: https://example.org/page\n";
  const tab = await openChat(t);
  await ask(tab, "Write");

  tab.socket.write(...text);
  await tab.shows(".code-language", "python");
  tab.socket.end();

  await tab.appears(".answer-text a", "the page");
  assert.deepEqual(tab.texts("chat-answer li"), ["one", "two"]);
  assert.deepEqual(tab.texts("chat-answer td"), ["1", "2"]);
  await tab.shows("pre .hljs-built_in, pre .hljs-title", "print");
  await until(() => tab.count("math mfrac"), 1);
});

test("a long answer is drawn while it grows", async (t) => {
  const paragraph = "A sentence with **bold words** and `code`, which is not short. ".repeat(4);
  const tab = await openChat(t);
  await ask(tab, "Go on and on");

  for (let number = 0; number < 150; number += 1) tab.socket.write(`## Part ${number}\n\n`, `${paragraph}\n\n`, "- one\n- two\n\n");
  await until(() => tab.texts("chat-answer h3").length, 150);
  tab.socket.end();

  await tab.appears(".answer-foot");
  assert.equal(tab.count("chat-answer h3"), 150);
  assert.equal(tab.count("chat-answer li"), 300);
});

test("a notice stays where it was said, and is shown once", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Go");
  const notice = { notice: "fallback", text: "B answered, because A was overloaded." };
  tab.socket.say("notice.added", notice);
  tab.socket.write("Here it is.");
  tab.socket.say("notice.added", notice);

  await tab.shows("chat-answer > .notice, .answer-text", notice.text, "Here it is.");
  await tab.shows("#said", notice.text);
  tab.socket.end();
  await tab.appears(".answer-foot");
  await tab.shows("chat-answer > .notice, .answer-text", notice.text, "Here it is.");
});

/** The notice below an answer that ended for a reason. */
async function noticeAfter(t, reason, ...texts) {
  const tab = await openChat(t);
  await ask(tab, "How warm is it?");
  tab.socket.write(...texts);
  tab.socket.end("done", { finish_reason: reason });
  await tab.appears(".answer-foot");
  return tab.texts("chat-answer .notice");
}

// @proves("T-03")
test("an answer that is cut shows a notice", async (t) => {
  assert.deepEqual(await noticeAfter(t, "length", "It is"), ["The answer reached the model’s length limit."]);
});

// @proves("T-06")
test("an empty answer shows a notice", async (t) => {
  assert.deepEqual(await noticeAfter(t, "stop"), ["The model returned an empty answer."]);
});

test("a step shows named values and tables, and its raw text on demand", async (t) => {
  const days = Array.from({ length: 25 }, (_, day) => ({ day: String(day), sun: day % 2 === 0 }));
  const request = "> #### Request:\n\r***city:*** Oslo <b>\n\r***days:*** [1,2]\n\r";
  const response = `> ##### Response:\n\n\`\`\`json\n${JSON.stringify({ days })}\n\`\`\`\n`;
  const tab = await openChat(t);
  await ask(tab, "What is the weather?");
  tab.socket.step("Weather", { text: request + response });
  tab.socket.end("done", { text: "Sunny." });

  (await tab.appears(".steps summary")).click();

  await tab.shows("step-text h3", "Request", "Response");
  await tab.shows("step-text dt", "city", "days", "days");
  assert.equal(tab.texts("step-text dd")[0], "Oslo <b>");
  await tab.shows("step-text th", "day", "sun");
  assert.equal(tab.count("step-text tbody tr"), 20);
  await tab.click(/^Show all/);
  await until(() => tab.count("step-text tbody tr"), 25);
  await tab.click("Raw");
  await tab.appears("step-text pre", "***city:*** Oslo <b>");
});

test("steps are shown at the level of detail that the person chose, and a failure shows its cause", async (t) => {
  const first = await openChat(t);
  const { socket } = first;
  await ask(first, "Again");
  socket.say("stage.opened", { stage: "1", title: "Look it up", parent: null });
  socket.say("stage.opened", { stage: "2", title: "Ask the library", parent: "1" });
  const error = "> ##### Error:\n\n```text\nLibrary_ask: The library is closed.\nat line 3\n```\n";
  socket.say("stage.delta", { stage: "2", text: error });
  socket.say("stage.closed", { stage: "2", failed: true, seconds: 0.5 });
  await first.shows(".step-cause", "The library is closed.");
  const level = first.find("select[data-step-level]");

  first.choose(level, "compact");
  await first.shows(".activity > .step-line .step-title", "Look it up");
  socket.say("stage.closed", { stage: "1", failed: false, seconds: 1 });
  socket.write("Done.");
  socket.end();
  await first.shows(".activity > .step-line .step-title", "2 steps");
  const line = first.find(".activity > .step-line");
  assert.match(textOf(line), /1 failed.*1\.5 s/);
  assert.equal(line.closest("details").open, false);
  line.click();
  await until(() => line.closest("details").open, true);
  assert.ok(line.closest("details").querySelector(".steps"));

  first.choose(level, "none");
  await until(() => first.count(".steps"), 0);
  const second = await openChat(t, { stored: first.stored });
  assert.equal(second.find("select[data-step-level]").value, "none");
});

test("steps are shown while they run, and fold to one line when the text begins", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "Both?");
  socket.step("Look it up");
  socket.step("Ask the library");
  await tab.shows(".step-title", "Look it up", "Ask the library");
  assert.equal(tab.count(".activity"), 0);

  socket.write("Here ");

  await tab.shows(".activity > .step-line .step-title", "2 steps");
  assert.equal(tab.find("details.activity").open, false);
  await tab.shows(".activity .steps .step-title", "Look it up", "Ask the library");
});

for (const [seconds, words] of [
  [3.6, "Thought for 3.6 s"],
  [75, "Thought for 1 min 15 s"],
  [0.4, "Thought for a moment"],
  [null, "Thoughts"],
]) {
  test(`a thought of ${seconds} s is over: ${words}`, async (t) => {
    const tab = await openChat(t);
    await ask(tab, "Think.");
    tab.socket.say("stage.opened", { stage: "1", title: "Thinking", parent: null });
    await tab.shows(".step-title", "Thinking…");
    tab.socket.say("stage.closed", { stage: "1", failed: false, seconds });

    await tab.shows(".step-title", words);
    assert.equal(tab.count(".step-time"), 0);
  });
}

test("only beginnings, ends and failures are read out", async (t) => {
  const tab = await openChat(t);
  const said = [];
  const region = tab.find("#said");
  const observer = new tab.window.MutationObserver(() => region.textContent && said.push(region.textContent));
  observer.observe(region, { childList: true, subtree: true, characterData: true });
  await ask(tab, "Speak");
  await tab.shows("#said", "Answer started.");
  tab.socket.step("A step", { failed: true });
  await tab.shows("#said", "Step failed: A step.");
  tab.socket.write("many ", "many ", "words");
  await tab.shows(".answer-text", "many many words");
  tab.socket.end();
  await tab.shows("#said", "Answer complete.");

  assert.deepEqual(said, ["Answer started.", "Step failed: A step.", "Answer complete."]);
  assert.equal(tab.find("[role=log]").getAttribute("aria-live"), "off");
});

test("the numbers of an answer are listed", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Why?");
  tab.socket.write("Because.");
  tab.socket.end("done", {
    usage: { prompt_tokens: 1200, cached_tokens: 250, completion_tokens: 34, reasoning_tokens: 5 },
    models: ["Big one", "Small one"],
    version: 3,
    costs: { USD: "0.0123", EUR: "1.5" },
    first_text_seconds: 0.4,
  });

  await tab.shows(".figures summary", "Details:2.4 s · 1,234 tokens · $0.012 + €1.50");
  const rows = tab.all(".figures dl > div").map((row) => [...row.children].map(textOf));
  assert.deepEqual(rows, [
    ["Models", "Big one, Small one"],
    ["App version", "3"],
    ["Input tokens", "1,200 (250 from the cache)"],
    ["Output tokens", "34 (5 for thinking)"],
    ["Cost", "$0.012 + €1.50"],
    ["Time to first token", "0.4 s"],
    ["Duration", "2.4 s"],
  ]);
});

test("the head sums a conversation up", async (t) => {
  const tab = await openChat(t);
  const rounds = [
    [{ USD: "0.25" }, "154 tokens · $0.25"],
    [{ USD: "1" }, "308 tokens · $1.25"],
    [null, "462 tokens · at least $1.25"],
  ];
  for (const [costs, text] of rounds) {
    await ask(tab, `Next: ${text}`);
    tab.socket.write("Yes.");
    tab.socket.end("done", { costs });

    await tab.shows("#conversation-sum:not([hidden])", text);
  }
});

test("numbers that the server does not send are left out", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Why?");
  tab.socket.step("Clock", { seconds: null });
  tab.socket.write("Because.");
  tab.socket.end("done", { usage: null, seconds: null });

  await tab.shows(".answer-foot .figures", "Details:Details What the model saw (opens in a new tab)");
  assert.equal(tab.count(".step-time"), 0);
  assert.ok(tab.find("#conversation-sum").hidden);
});

// @proves("D-06")
test("a result that the model no longer reads is marked", async (t) => {
  const tab = await openChat(t);
  const { socket } = tab;
  await ask(tab, "What is the weather in Oslo?");
  for (const title of ["Weather in Oslo", "Forecast of tomorrow"]) socket.step(title, { text: "7 degrees" });
  socket.write("It is cool.");
  const { run } = socket;
  socket.end();
  await tab.appears(".answer-foot");

  socket.send("results.expired", { conversation: socket.conversation, answers: { [run]: ["Weather in Oslo"] } });

  const faded = await tab.appears(".step.expired", "Weather in Oslo");
  assert.equal(tab.count(".step.expired"), 1);
  assert.match(textOf(faded), /no longer read by the model/);
  assert.match(faded.getAttribute("title"), /no longer reads this result/);
  faded.querySelector("summary").click();
  await until(() => faded.querySelector("details").open, true);
  await until(() => textOf(faded).includes("7 degrees"), true);
});
