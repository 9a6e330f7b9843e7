"""What a word of an answer costs the page, however long the answer is already."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.scripted import ScriptedSocket
from tests.browser.serving import Site
from tests.browser.test_chat import MANIFEST, ask, chat, socket
from tests.browser.test_demo import DRAWN

__all__ = ["chat", "socket"]  # fixtures

COUNT_PARSED = """
    async () => {
      const {Marked} = await import(document.querySelector("link[href*='/marked']").href);
      const lexer = Marked.prototype.lexer;
      window.largest = 0;
      Marked.prototype.lexer = function (text, ...more) {
        window.largest = Math.max(window.largest, text.length);
        return lexer.call(this, text, ...more);
      };
    }
    """
BLOCKS = {
    "paragraphs": ("", "Some words in a paragraph of their own.\n\n", "p"),
    "code": ("```python\n", "print('a line of code that is not short')\n", "code"),
    "table": ("| a | b |\n| - | - |\n", "| one cell | and another cell |\n", "td"),
    "list": ("", "- an item of a list that goes on and on\n", "li"),
}


@pytest.fixture(scope="module")
def application(site: Site) -> str:
    """The address of an application, as everybody may use it."""
    site.shell(
        "Application.objects.create(slug=slug, title='Much', is_public=True, manifest=manifest)",
        slug="streaming",
        manifest=MANIFEST,
    )
    return "/chat/streaming/"


def written(kind: str, length: int) -> str:
    first, line, _ = BLOCKS[kind]
    return first + line * (length // len(line))


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_word_is_parsed_alone_however_long_the_answer_is(
    chat: Page, socket: ScriptedSocket, kind: str
) -> None:
    _, line, element = BLOCKS[kind]
    ask(chat, socket, "Tell me much.")
    chat.evaluate(COUNT_PARSED)
    found = {}
    sent = ""
    for length in (1_000, 100_000):
        added = written(kind, length).removeprefix(sent)
        sent += added
        socket.write(added)
        place = chat.locator("chat-answer .answer-text")
        expect(place).to_contain_text(line.strip("|-\n ").split(" | ")[0])
        for number in range(3):
            word = f"mark{length}x{number}"
            more = line.replace("a", word, 1) if "a" in line else f"{word} {line}"
            sent += more
            socket.write(more)
            expect(place.locator(element, has_text=word).last).to_be_attached()
            if number == 0:
                chat.evaluate("window.largest = 0")  # what came at once is drawn
        found[length] = chat.evaluate("window.largest")

    assert found[100_000] <= max(found[1_000], 400), found
    socket.end()
    expect(chat.get_by_role("button", name="Copy as Markdown").last).to_be_visible()
    text = chat.locator("chat-answer .answer-text").inner_text()
    assert text.count("mark100000x2") == text.count("mark1000x0") == 1


def test_a_heading_is_drawn_with_its_first_word(chat: Page, socket: ScriptedSocket) -> None:
    ask(chat, socket, "Tell me of Riga.")
    place = chat.locator("chat-answer .answer-text")
    socket.write("Some words.\n\n## ")
    expect(place).to_contain_text("Some words.")
    chat.evaluate(DRAWN)
    expect(place.get_by_role("heading")).to_have_count(0)

    socket.write("Riga")

    expect(place.get_by_role("heading")).to_have_text("Riga")
    socket.end()
    expect(place).to_have_text("Some words. Riga")
