/** What a word of an answer costs the page, however long the answer is already. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openChat } from "./support/chat.js";

const BLOCKS = {
  paragraphs: ["", "Some words in a paragraph of their own.\n\n", "p"],
  code: ["```python\n", "print('a line of code that is not short')\n", "code"],
  "a table": ["| a | b |\n| - | - |\n", "| one cell | and another cell |\n", "td"],
  "a list": ["", "- an item of a list that goes on and on\n", "li"],
};
const LONGEST = 10_000;

/** Count the characters of the longest text that the page parses at once. */
async function countParsed(tab) {
  const { Marked } = await tab.scripts.import("/static/chat/vendor/marked.js");
  const counted = { largest: 0 };
  const { lexer } = Marked.prototype;
  Marked.prototype.lexer = function (text, ...more) {
    counted.largest = Math.max(counted.largest, text.length);
    return lexer.call(this, text, ...more);
  };
  return counted;
}

for (const [kind, [first, line, element]] of Object.entries(BLOCKS)) {
  test(`a word of ${kind} is parsed alone, however long the answer is`, async (t) => {
    const tab = await openChat(t);
    await ask(tab, "Tell me much.");
    const counted = await countParsed(tab);
    const costs = [];
    let sent = "";
    for (const length of [1_000, LONGEST]) {
      const added = (first + line.repeat(length / line.length)).slice(sent.length);
      sent += added;
      tab.socket.write(added);
      for (let number = 0; number < 3; number += 1) {
        const word = `mark${length}x${number}`;
        const more = line.includes("a") ? line.replace("a", word) : `${word} ${line}`;
        sent += more;
        tab.socket.write(more);
        await tab.appears(`.answer-text ${element}`, word);
        if (number === 0) counted.largest = 0; // what came at once is drawn
      }
      costs.push(counted.largest);
    }

    const [short, long] = costs;
    assert.ok(long <= Math.max(short, 400), `${long} characters are parsed after ${LONGEST}, ${short} after 1,000.`);
    tab.socket.end();
    await tab.appears(".answer-foot");
    const text = tab.find(".answer-text").textContent;
    assert.deepEqual([text.split("mark1000x0").length, text.split(`mark${LONGEST}x2`).length], [2, 2]);
  });
}

test("a heading is drawn with its first word", async (t) => {
  const tab = await openChat(t);
  await ask(tab, "Tell me of Riga.");
  tab.socket.write("Some words.\n\n## ");
  await tab.shows(".answer-text", "Some words.");
  await new Promise((drawn) => tab.window.requestAnimationFrame(drawn));
  assert.equal(tab.count(".answer-text :is(h1, h2, h3, h4, h5, h6)"), 0);

  tab.socket.write("Riga");

  await tab.shows(".answer-text :is(h1, h2, h3, h4, h5, h6)", "Riga");
  tab.socket.end();
  await tab.shows(".answer-text", "Some words. Riga");
});

const UNFINISHED = [
  ["Plain words", "Plain words"],
  ["A **bold", "A **bold**"],
  ["A **bold*", "A **bold**"],
  ["A **bold**", "A **bold**"],
  ["A **", "A"],
  ["A **bold and *both", "A **bold and *both***"],
  ["A **bold and *both***", "A **bold and *both***"],
  ["Run `make *all", "Run `make *all`"],
  ["Run `", "Run"],
  ["- **Term**: an ~~old", "- **Term**: an ~~old~~"],
  ["2 * 3, 2*3 and snake_case", "2 * 3, 2*3 and snake_case"],
  ["$x^*$ and https://a.test/_b", "$x^*$ and https://a.test/_b"],
  ["\\*not emphasized", "\\*not emphasized"],
];
test("emphasis that is still arriving has no marks", async (t) => {
  const tab = await openChat(t);
  const { closeEmphasis } = await tab.scripts.import("/static/chat/scripts/markdown/unfinished.js");
  assert.deepEqual(UNFINISHED.map(([text]) => closeEmphasis(text)), UNFINISHED.map(([, closed]) => closed));

  await ask(tab, "Tell me much.");
  tab.socket.write("This is **very impor");
  await tab.appears(".answer-text strong", "very impor");
  tab.socket.write("tant**.");
  await tab.appears(".answer-text p", "This is very important.");
});
