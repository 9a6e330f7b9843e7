"""The chat page against a scripted server: what a reader sees, whatever the wire does."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.browser.conftest import barriers
from tests.browser.scripted import ScriptedSocket, send
from tests.browser.serving import Site

SLUG = "page-tests"
ADDRESS = f"/chat/{SLUG}/"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}
STARTERS = {
    "intro_text": "What shall it be?",
    "auto_submit": True,
    "chat_message_input_disabled": False,
    "starters": [{"title": "The weather", "text": "What is the weather in Oslo?"}],
}
HOSTILE = """
<script>document.title = "taken"</script>
<img src=x onerror="document.title = 'taken'">

[a link](javascript:document.title='taken') and [another](https://example.org/page)

![a picture](https://example.org/words-of-the-conversation.png)

<b onclick="document.title='taken'">bold</b> <svg onload=alert(1)> <form action=/admin/><input></form>
"""


@pytest.fixture(scope="module")
def application(site: Site) -> str:
    """The address of an application, as everybody may use it."""
    site.shell(
        """
        Application.objects.create(
            slug=slug, title="Page tests", description="Says what it is told.",
            is_public=True, manifest=manifest,
        )
        """,
        slug=SLUG,
        manifest=MANIFEST,
    )
    return ADDRESS


@pytest.fixture
def socket(page: Page) -> ScriptedSocket:
    scripted = ScriptedSocket()
    scripted.serve(page)
    return scripted


@pytest.fixture
def chat(page: Page, application: str, socket: ScriptedSocket) -> Page:
    page.goto(application)
    expect(question(page)).to_be_visible()
    return page


@pytest.fixture
def starters(site: Site, application: str) -> Iterator[Any]:
    """Change the application's starters for one test."""

    def offer(**changes: Any) -> None:
        offered = {**MANIFEST, "conversation_starters": {**STARTERS, **changes}}
        keep_manifest(site, offered)

    yield offer
    keep_manifest(site, MANIFEST)


def keep_manifest(site: Site, manifest: dict[str, Any]) -> None:
    site.shell(
        """
        application = Application.objects.get(slug=slug)
        application.manifest = manifest
        application.save()
        """,
        slug=SLUG,
        manifest=manifest,
    )


def question(page: Page) -> Locator:
    return page.get_by_label("Your question")


def ask(page: Page, socket: ScriptedSocket, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")
    expect(page.locator(".question-text").last).to_have_text(text)
    expect(page.get_by_text("Sending…")).to_have_count(0)
    assert socket.asked()[-1] == text


def test_a_question_is_answered_with_its_steps_text_and_attachments(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "What is the weather?")

    socket.say(type="stage.opened", stage="1", title="Weather", parent=None)
    socket.say(type="stage.delta", stage="1", title=" in Oslo")
    socket.say(type="stage.delta", stage="1", text="The **result**.")
    socket.say(type="stage.opened", stage="2", title="Station", parent="1")
    expect(chat.locator(".step", has_text="Station").last).to_contain_text("Running")
    socket.say(type="stage.closed", stage="2", failed=True, seconds=0.3)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=1.25)
    socket.write("It is **7", " °C**.")
    card = {"type": "text/plain", "title": "Report", "url": "https://example.org/report.txt"}
    socket.say(type="attachment.added", attachment=card)
    socket.end(attachments=[card])

    answer = chat.locator("chat-answer")
    expect(answer.locator("strong")).to_have_text("7 °C")
    expect(answer.locator(".step-title")).to_have_text(["Weather in Oslo", "Station"])
    expect(answer.locator(".step .step .step-state")).to_have_text("Failed")
    expect(answer.locator(".step-time").first).to_have_text("1.3 s")
    expect(answer.get_by_role("link", name="Report")).to_have_attribute(
        "href", "https://example.org/report.txt"
    )
    expect(answer).to_contain_text("154 tokens")
    expect(answer.get_by_text("The result.")).to_have_count(0)
    answer.locator(".steps summary").click()
    expect(answer.get_by_text("The result.")).to_be_visible()


def test_the_parts_of_an_answer_keep_their_order(chat: Page, socket: ScriptedSocket) -> None:
    ask(chat, socket, "First, then")

    socket.write("Let me look.")
    socket.say(type="stage.opened", stage="1", title="Look", parent=None)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=0.1)
    socket.write("\n\nThere it is.")
    socket.end()

    parts = chat.locator("chat-answer > markdown-text, .step-title")
    expect(parts).to_have_text(["Let me look.", "Look", "There it is."])


def test_an_answer_that_another_process_continues_says_so_and_repeats_nothing(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "What survives?")
    socket.write("It looks. ")
    socket.say(type="stage.opened", stage="1", title="Look", parent=None)
    socket.write("Half of a sen")

    socket.say(type="stage.closed", stage="1", failed=True, seconds=0)
    socket.say(type="run.continued")
    socket.say(type="run.status", status="running")
    socket.say(type="answer.restarted", text="It looks. ", attachments=[], annotations=[])
    socket.say(type="stage.opened", stage="1", title="Look", parent=None)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=1.2)
    socket.write("A sentence.")
    socket.end(text="It looks. A sentence.")

    parts = chat.locator("chat-answer > markdown-text, .step-title")
    expect(parts).to_have_text(["It looks.", "Look", "A sentence."])
    expect(chat.locator(".step-state")).to_have_text("Done")
    expect(chat.get_by_text("Continued after an interruption.")).to_be_visible()


def test_the_address_and_the_title_become_those_of_the_conversation(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Hello")
    socket.end(text="Hello.")

    expect(chat).to_have_url(f"{ADDRESS}{socket.conversation}/")
    expect(chat).to_have_title("A conversation · Page tests")
    row = {
        "id": socket.conversation,
        "title": "A conversation",
        "state": "done",
        "updated_at": "2026-01-05T10:00:00+00:00",
        "folder": None,
        "address": f"{ADDRESS}{socket.conversation}/",
        "pinned": False,
        "archived": False,
        "application": {"title": "Page tests", "ended": False, "letters": "Pt", "tile": 1},
    }
    send(socket.viewers[0], type="list.changed", conversations=[row], deleted=[], is_whole=True)
    entry = chat.get_by_role("link", name="A conversation")
    expect(entry).to_have_attribute("aria-current", "page")


def test_what_a_model_writes_can_neither_run_nor_load_anything(
    chat: Page, socket: ScriptedSocket
) -> None:
    requests: list[str] = []
    chat.on("request", lambda request: requests.append(request.url))
    ask(chat, socket, "Do your worst")

    socket.say(type="stage.opened", stage="1", title="<img src=x onerror=alert(1)>", parent=None)
    socket.write(HOSTILE)
    socket.end()

    answer = chat.locator("chat-answer")
    expect(answer.get_by_role("link", name="another")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    expect(answer.get_by_role("link", name="a picture")).to_have_attribute(
        "href", "https://example.org/words-of-the-conversation.png"
    )
    hrefs = answer.locator(".answer-text a").evaluate_all(
        "links => links.map(a => a.getAttribute('href'))"
    )
    assert hrefs == [
        None,
        "https://example.org/page",
        "https://example.org/words-of-the-conversation.png",
    ]
    expect(answer.locator("img, script, form, input, markdown-text svg[onload]")).to_have_count(0)
    assert [url for url in requests if "example.org" in url] == []
    assert "taken" not in chat.title()


def test_anchors_become_numbers_that_lead_to_their_sources(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Cite")

    socket.write(
        'It is warm<cit data-id="b"></cit><cit data-id="a"></cit>', ' and dry<cit data-id="x'
    )
    socket.write('"></cit>, they say<cit data-id="c"></cit>.\n\n<cit onclick="alert(1)">evil</cit>')
    for annotation in (
        {"id": "a", "title": "<b>Report</b>", "url": "https://example.org/a?b=1"},
        {"id": "b", "url_citation": {"title": "Second", "url": "http://example.org/b"}},
        {"id": "c", "title": "Nowhere", "url": "javascript:alert(1)"},
    ):
        socket.say(type="annotation.added", annotation=annotation)
    socket.end()

    answer = chat.locator("chat-answer")
    marks = answer.locator(".citation")
    expect(marks).to_have_text(["2", "1", "3"])
    expect(answer.locator("markdown-text p").first).to_have_text("It is warm21 and dry, they say3.")
    links = answer.locator(".answer-text").get_by_role("link")
    expect(links).to_have_count(2)
    expect(links.first).to_have_attribute("href", "http://example.org/b")
    expect(links.first).to_have_accessible_name("Source 2: Second")
    expect(links.last).to_have_attribute("href", "https://example.org/a?b=1")
    links.last.hover()
    expect(chat.get_by_role("tooltip").locator(".citation-title")).to_have_text("<b>Report</b>")
    expect(answer.locator("markdown-text p").last).to_have_text('<cit onclick="alert(1)">evil')


def test_files_of_the_reader_are_linked_to_where_they_are_shown(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Where is it?")

    socket.write(
        'There<cit data-id="a"></cit><cit data-id="b"></cit>, '
        "[in the plan](files/user-7/The%20plan.pdf), [no](files/../admin/), "
        "![chart](files/user-7/chart.png) ![no](files/user-7/chart.exe)"
    )
    for annotation in (
        {"id": "a", "url": "files/user-7/The%20plan.pdf"},
        {"id": "b", "url": "files/user-7/../../admin/"},
    ):
        socket.say(type="annotation.added", annotation=annotation)
    socket.end(attachments=[{"type": "text/plain", "url": "files/../admin/", "title": "No"}])

    answer = chat.locator("chat-answer")
    picture = answer.locator("markdown-text img")
    links = answer.locator(".answer-text").get_by_role("link")
    expect(links).to_have_count(3)
    whole = links.filter(has=chat.locator("img"))
    expect(whole).to_have_attribute("href", "/files/user-7/chart.png")
    for link in links.filter(has_not=chat.locator("img")).all():
        expect(link).to_have_attribute("href", re.compile(r"/files/user-7/The%20plan\.pdf$"))
    expect(links.first).to_have_accessible_name("Source 1: The plan.pdf")
    expect(picture).to_have_count(1)
    expect(picture).to_have_attribute("src", "/files/user-7/chart.png")


def test_text_that_streamed_ends_as_the_whole_text_reads(
    chat: Page, socket: ScriptedSocket
) -> None:
    text = (
        "See [the page][1].\n\n- one\n\n- two\n\n```python\nprint(1)\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe sum is $\\frac{1}{2}$.\n\n"
        "[1]: https://example.org/page\n"
    )
    ask(chat, socket, "Write")

    socket.write(*text)
    expect(chat.locator(".code-language")).to_have_text("python")
    socket.end()

    expect(chat.get_by_role("link", name="the page")).to_be_visible()
    expect(chat.locator("chat-answer li")).to_have_count(2)
    expect(chat.locator("chat-answer td")).to_have_text(["1", "2"])
    expect(chat.locator("pre .hljs-built_in, pre .hljs-title")).to_have_text("print")
    expect(chat.locator("math mfrac")).to_have_count(1)
    expect(chat.locator("annotation")).to_have_count(0)


def test_a_long_answer_is_drawn_while_it_grows(chat: Page, socket: ScriptedSocket) -> None:
    paragraph = "A sentence with **bold words** and `code`, which is not short. " * 4
    ask(chat, socket, "Go on and on")

    for number in range(150):
        socket.write(f"## Part {number}\n\n", f"{paragraph}\n\n", "- one\n- two\n\n")
    expect(chat.get_by_role("heading", name="Part 149")).to_be_in_viewport()
    socket.end()

    expect(chat.locator("chat-answer h3")).to_have_count(150)
    expect(chat.locator("chat-answer li")).to_have_count(300)


def test_a_lost_connection_is_told_and_what_was_missed_arrives_once(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Count")
    socket.write("one ", "two ")
    expect(chat.get_by_text("one two")).to_be_visible()

    socket.cut()
    expect(chat.locator("#notice")).to_have_text("Connection lost, trying again…")
    socket.write("three ")
    socket.say(type="stage.opened", stage="1", title="Counting", parent=None)

    expect(chat.locator("#notice")).to_be_hidden()
    expect(chat.get_by_text("one two three")).to_be_visible()
    expect(chat.locator(".step-title")).to_have_text("Counting")
    opened = [frame for frame in socket.received if frame["type"] == "open"]
    wanted = {"type": "open", "conversation": socket.conversation, "after": 4, "application": SLUG}
    assert opened == [wanted]
    assert socket.asked() == ["Count"]


def test_a_notice_stands_where_it_was_said_and_only_once(
    chat: Page, socket: ScriptedSocket
) -> None:
    question(chat).fill("Go")
    question(chat).press("Enter")
    told = "B answered, because A was overloaded."
    socket.say(type="notice.added", notice="fallback", text=told)
    socket.write("Here it is.")
    socket.say(type="notice.added", notice="fallback", text=told)

    expect(chat.locator("chat-answer .notice")).to_have_text([told])
    expect(chat.locator("#said")).to_have_text(told)
    socket.end()
    expect(chat.locator("chat-answer .notice")).to_have_text([told])
    expect(chat.locator("chat-answer").get_by_text("Here it is.")).to_be_visible()


def test_a_question_that_nobody_confirmed_is_sent_again_with_its_id(
    chat: Page, socket: ScriptedSocket
) -> None:
    socket.deaf = True
    question(chat).fill("Are you there?")
    question(chat).press("Enter")
    expect(chat.get_by_text("Sending…")).to_be_visible()

    socket.deaf = False
    chat.evaluate("dispatchEvent(new Event('online'))")

    expect(chat.get_by_text("Sending…")).to_have_count(0)
    expect(chat.locator(".question-text")).to_have_text(["Are you there?"])
    first, second = (frame for frame in socket.received if frame["type"] == "ask")
    assert first == second


def test_what_was_asked_elsewhere_stands_before_a_question_that_is_on_its_way(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "First")
    socket.write("One.")
    socket.end()
    socket.deaf = True
    question(chat).fill("Mine")
    question(chat).press("Enter")
    expect(chat.get_by_text("Sending…")).to_be_visible()

    for text, answer in (("Of another tab", "Two."), ("Mine", "Three.")):
        socket.begin({"text": text})
        socket.write(answer)
        socket.end()
        expect(chat.locator("chat-answer .answer-text").get_by_text(answer)).to_be_visible()
        expect(chat.locator(".question-text")).to_have_text(["First", "Of another tab", "Mine"])
        expect(chat.locator(".gap")).to_have_count(0)

    expect(chat.get_by_text("Sending…")).to_have_count(0)
    expect(chat.locator("chat-answer .answer-text")).to_have_text(["One.", "Two.", "Three."])


@pytest.mark.parametrize("way", ["button", "Escape"])
def test_an_answer_can_be_stopped(chat: Page, socket: ScriptedSocket, way: str) -> None:
    ask(chat, socket, "Never end")
    socket.say(type="stage.opened", stage="1", title="Endless", parent=None)
    socket.write("On and on")
    expect(chat.get_by_text("On and on")).to_be_visible()

    if way == "button":
        chat.get_by_role("button", name="Stop").click()
    else:
        chat.keyboard.press("Escape")

    expect(chat.locator("chat-answer .notice")).to_contain_text("Stopped.")
    expect(chat.locator(".step-state")).to_have_text("Stopped")
    expect(question(chat)).to_be_focused()
    expect(chat.locator("#said")).to_have_text("Answer stopped.")
    assert socket.received[-1] == {"type": "stop"}


def test_a_failure_has_its_reference_and_can_be_retried(chat: Page, socket: ScriptedSocket) -> None:
    ask(chat, socket, "Break")
    socket.say(type="run.error", text="The model did not answer.", reference="0a1b2c3d")
    asked = socket.journal[0]["message"]
    socket.end("failed")

    failure = chat.locator(".failure")
    expect(failure).to_contain_text("The model did not answer.")
    expect(failure).to_contain_text("Reference: 0a1b2c3d")
    expect(chat.locator("#warned")).to_have_text("The answer failed. The model did not answer.")
    chat.get_by_role("button", name="Try again").click()

    expect(chat.locator(".question-text")).to_have_text(["Break"])
    expect(failure).to_have_count(0)
    first, second = [frame for frame in socket.received if frame["type"] == "ask"]
    assert (first["text"], second["text"], second["again"]) == ("Break", "", asked["id"])
    socket.end(text="Whole.")
    expect(chat.locator("chat-answer")).to_contain_text("Whole.")
    expect(chat.locator(".question-text")).to_have_text(["Break"])
    expect(failure).to_have_count(0)
    expect(chat.get_by_role("button", name="Try again")).to_have_count(0)


def test_an_answer_that_was_cut_goes_on_and_is_read_and_copied_as_one(
    page: Page, application: str, socket: ScriptedSocket
) -> None:
    page.add_init_script(
        """
        window.heard = [];
        speechSynthesis.speak = (words) => heard.push(words.text);
        speechSynthesis.cancel = () => heard.push("");
        navigator.clipboard.writeText = async (text) => heard.push(`copied ${text}`);
        """
    )
    page.goto(application)
    ask(page, socket, "A tale.")
    socket.write("Once **upon** ")
    socket.end(finish_reason="length")
    cut = socket.journal[-2]["message"]["id"]

    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Thinking…")).to_be_visible()
    socket.write("a time.")
    socket.end()

    foot = page.locator(".answer-foot")
    expect(foot).to_have_count(1)
    expect(page.locator(".question-text")).to_have_count(1)
    expect(page.get_by_text("Cut off")).to_have_count(0)
    last = [frame for frame in socket.received if frame["type"] == "ask"][-1]
    assert (last["continues"], last["text"]) == (cut, "")
    foot.get_by_role("button", name="Copy as Markdown").click()
    foot.get_by_role("button", name="Copy as text").click()
    foot.get_by_role("button", name="Read aloud").click()
    foot.get_by_role("button", name="Stop reading").click()
    expect(foot.get_by_role("button", name="Read aloud")).to_be_focused()
    heard = page.evaluate("heard")
    assert heard[0] == "copied Once **upon** a time."
    assert heard[1].split() == ["copied", "Once", "upon", "a", "time."]
    assert heard[-2].split() == ["Once", "upon", "a", "time."]
    assert heard[-1] == ""


def test_a_retry_that_is_refused_leaves_the_failed_attempt(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Break")
    socket.say(type="run.error", text="The model did not answer.", reference="0a1b2c3d")
    socket.end("failed")
    socket.deaf = True
    chat.get_by_role("button", name="Try again").click()
    expect(chat.locator(".failure")).to_have_count(0)

    socket.refuse("The server is restarting.", "server_stopping")

    expect(chat.locator("#problem")).to_have_text("The server is restarting.")
    expect(chat.locator(".question-text")).to_have_text(["Break"])
    expect(chat.locator(".failure")).to_be_visible()
    expect(question(chat)).to_have_value("")


@pytest.mark.parametrize(
    ("texts", "reason", "notice"),
    [
        (("It is",), "length", "Cut off: the answer became too long for the model."),
        ((), "stop", "The model had nothing to say."),
    ],
)
def test_an_answer_that_is_cut_or_empty_says_so(
    chat: Page, socket: ScriptedSocket, texts: tuple[str, ...], reason: str, notice: str
) -> None:
    ask(chat, socket, "How warm is it?")
    socket.write(*texts)
    socket.end(finish_reason=reason)

    expect(chat.locator("chat-answer .notice")).to_have_text(notice)
    assert barriers(chat) == []


def test_a_question_that_is_refused_is_given_back(chat: Page, socket: ScriptedSocket) -> None:
    socket.deaf = True
    question(chat).fill("Too soon")
    question(chat).press("Enter")
    expect(chat.get_by_text("Sending…")).to_be_visible()

    socket.refuse("An answer is being written. Wait for it or stop it.", "run_going")

    expect(chat.locator("#problem")).to_have_text(
        "An answer is being written. Wait for it or stop it."
    )
    expect(question(chat)).to_have_value("Too soon")
    expect(chat.locator(".question-text")).to_have_count(0)


def test_a_session_that_ended_is_told_and_not_asked_for_again(
    chat: Page, socket: ScriptedSocket
) -> None:
    socket.close(4401)

    expect(chat.locator("#notice")).to_contain_text("Reload the page to go on.")
    expect(question(chat)).to_be_disabled()
    assert len(socket.everybody) == 1


def test_a_question_is_on_the_page_before_the_server_has_heard_of_it(
    chat: Page, socket: ScriptedSocket
) -> None:
    socket.deaf = True

    shown = chat.evaluate(
        """async () => {
          const field = document.getElementById("question");
          field.value = "Seen at once";
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
          return new Promise((seen) => requestAnimationFrame(() => seen(
            [...document.querySelectorAll(".question-text, .working")].map((one) => one.textContent)
          )));
        }"""
    )

    assert shown == ["Seen at once", "Sending…"]


def test_something_is_seen_to_go_on_from_the_moment_of_asking_until_the_answer_has_begun(
    chat: Page, socket: ScriptedSocket
) -> None:
    working = chat.locator(".working")
    socket.deaf = True
    question(chat).fill("How warm is it?")
    question(chat).press("Enter")
    expect(working).to_have_text("Sending…")

    socket.deaf = False
    socket.cut()
    expect(working).to_have_text("Thinking…")
    socket.write("12 degrees")
    expect(working).to_have_text("Working…")
    socket.end()
    expect(working).to_have_count(0)
    socket.deaf = True
    chat.get_by_role("button", name="Answer again").click()
    expect(working).to_have_text("Thinking…")


def test_what_is_long_or_wide_has_room_of_its_own_and_all_of_it_is_printed(
    chat: Page, socket: ScriptedSocket
) -> None:
    lines = "\n".join(f"Line {number}" for number in range(80))
    question(chat).fill(lines)
    question(chat).press("Enter")
    text = chat.locator(".question-text")
    expect(text).to_contain_text("Line 79")
    socket.write("|Name|" + "Column|" * 9 + "\n|-|" + "-|" * 9 + "\n|" + "some words|" * 10)
    socket.write("\n\n[a link](https://example.org/page) and a note[^1].\n\n[^1]: The note.\n")
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
    socket.end(attachments=[{"type": "image/png", "title": f"{n}", "data": dot} for n in "ab"])

    height = "element => element.getBoundingClientRect().height"
    assert text.evaluate(height) < 300
    text.evaluate("element => element.scrollTo(0, 900)")  # as find-in-page does
    expect(chat.get_by_role("button", name="Show less")).to_be_visible()
    assert text.evaluate(height) > 1500
    chat.get_by_role("button", name="Show less").click()
    assert text.evaluate(height) < 300
    table = chat.get_by_role("group", name="Table: Name, Column")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    expect(chat.locator("chat-answer markdown-text sup")).to_have_text(["1", "1"])
    boxes = [card.bounding_box() for card in chat.locator(".picture").all()]
    assert [box["y"] for box in boxes if box] == [boxes[0]["y"]] * 2 if boxes[0] else False
    assert barriers(chat) == []

    chat.emulate_media(media="print")
    assert text.evaluate(height) > 1500
    for hidden in (question(chat), chat.locator(".sidebar"), chat.locator(".answer-foot")):
        expect(hidden).to_be_hidden()
    link = chat.get_by_role("link", name="a link")
    after = link.evaluate("link => getComputedStyle(link, '::after').content")
    assert "https://example.org/page" in after


def test_a_text_from_right_to_left_has_its_marks_on_its_own_side(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "שלום")
    socket.write(
        "English first.\n\n> שלום\n\n1. פריט\n\n- [x] פריט\n\n|שם|ערך|\n|-|-|\n|א|12|\n\n```\nlet a;\n```\n"
    )
    socket.end()

    expect(chat.locator(".code")).to_be_visible()
    sides = chat.evaluate(
        """() => {
          const of = (name, side) => getComputedStyle(document.querySelector("markdown-text " + name))[side];
          return [of("blockquote", "borderRightWidth"), of("blockquote", "borderLeftWidth"),
            of("ol", "direction"), of("ul", "direction"), of("td", "direction"), of("td", "textAlign"),
            of(".code", "direction"), of("p", "direction")];
        }"""
    )
    assert sides == ["3px", "0px", "rtl", "rtl", "rtl", "start", "ltr", "ltr"]


def test_a_step_shows_named_values_and_tables_and_its_raw_text_on_demand(
    chat: Page, socket: ScriptedSocket
) -> None:
    rows = [{"day": str(day), "sun": day % 2 == 0} for day in range(25)]
    told = "> #### Request:\n\r***city:*** Oslo <b>\n\r***days:*** [1,2]\n\r"
    answered = f"> ##### Response:\n\n```json\n{json.dumps({'days': rows})}\n```\n"
    ask(chat, socket, "What is the weather?")
    socket.say(type="stage.opened", stage="1", title="Weather", parent=None)
    socket.say(type="stage.delta", stage="1", text=told + answered)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=1)
    socket.end(text="Sunny.")

    chat.locator(".steps summary").click()

    step = chat.locator("step-text")
    expect(step.locator("h3")).to_have_text(["Request", "Response"])
    expect(step.locator("dt")).to_have_text(["city", "days", "days"])
    expect(step.locator("dd").first).to_have_text("Oslo <b>")
    expect(step.locator("th")).to_have_text(["day", "sun"])
    expect(step.locator("tbody tr")).to_have_count(20)
    assert barriers(chat) == []
    step.get_by_role("button", name="Show all").click()
    expect(step.locator("tbody tr")).to_have_count(25)
    step.get_by_role("button", name="Raw").click()
    expect(step.locator("pre")).to_contain_text("***city:*** Oslo <b>")


def test_what_others_ask_in_the_same_conversation_is_shown(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Mine")
    socket.end(text="First.")

    socket.begin({"text": "Theirs, from another tab"})
    socket.write("Second.")

    expect(chat.locator(".question-text")).to_have_text(["Mine", "Theirs, from another tab"])
    expect(chat.get_by_text("Second.")).to_be_visible()
    expect(chat.get_by_role("button", name="Stop")).to_be_visible()


def test_enter_sends_and_shift_enter_begins_a_line(chat: Page, socket: ScriptedSocket) -> None:
    field = question(chat)
    field.press_sequentially("one")
    height = field.evaluate("field => field.clientHeight")
    field.press("Shift+Enter")
    field.press_sequentially("two")
    expect(field).to_have_value("one\ntwo")
    assert field.evaluate("field => field.clientHeight") > height

    composing = "field => field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true}))"
    field.evaluate(composing)
    assert socket.asked() == []
    field.press("Enter")

    expect(field).to_have_value("")
    expect(chat.locator(".question-text")).to_have_text("one\ntwo")
    assert socket.asked() == ["one\ntwo"]


def test_a_draft_outlives_a_reload(chat: Page, socket: ScriptedSocket) -> None:
    question(chat).fill("Half a thought")

    chat.reload()

    expect(question(chat)).to_have_value("Half a thought")
    assert socket.received == []


def test_a_draft_of_a_person_outlives_its_tab_and_not_their_session(
    admin_page: Page, application: str, socket: ScriptedSocket
) -> None:
    admin_page.goto(application)
    question(admin_page).fill("Half a thought")
    second = admin_page.context.new_page()
    second.goto(application)
    expect(question(second)).to_have_value("Half a thought")

    second.get_by_role("button", name="Sign out").click()
    expect(second.get_by_role("link", name="Sign in").first).to_be_visible()
    second.goto(application)
    expect(question(second)).to_have_value("")
    assert second.evaluate("Object.keys(localStorage).filter(key => key.startsWith('draft'))") == []


def test_a_question_that_is_too_long_is_counted_and_not_sent(
    chat: Page, socket: ScriptedSocket
) -> None:
    question(chat).fill("x" * 100_001)

    expect(chat.get_by_text("1 character too many")).to_be_visible()
    expect(chat.get_by_role("button", name="Send")).to_be_disabled()
    question(chat).press("Enter")
    expect(chat.get_by_role("alert").filter(has_text="Not sent")).to_have_text(
        "Not sent: the message is 1 character too long."
    )
    assert socket.received == []
    question(chat).fill("x")
    expect(chat.locator(".composer-problem")).to_have_text("")


def test_a_starter_is_asked_at_once(page: Page, starters: Any, socket: ScriptedSocket) -> None:
    starters()
    page.goto(ADDRESS)
    expect(page.get_by_role("heading", name="What shall it be?")).to_be_visible()

    page.get_by_role("button", name="The weather").click()

    expect(page.locator(".question-text")).to_have_text("What is the weather in Oslo?")
    assert socket.asked() == ["What is the weather in Oslo?"]


def test_a_starter_can_be_changed_first(page: Page, starters: Any, socket: ScriptedSocket) -> None:
    starters(auto_submit=False)
    page.goto(ADDRESS)

    page.get_by_role("button", name="The weather").click()

    expect(question(page)).to_have_value("What is the weather in Oslo?")
    expect(question(page)).to_be_focused()
    assert socket.asked() == []


def test_where_typing_is_off_the_starters_stay(
    page: Page, starters: Any, socket: ScriptedSocket
) -> None:
    starters(chat_message_input_disabled=True)
    page.goto(ADDRESS)
    expect(question(page)).to_be_disabled()

    page.get_by_role("button", name="The weather").click()
    expect(page.get_by_text("Thinking…")).to_be_visible()
    socket.end(text="Rain.")

    expect(page.get_by_text("Rain.")).to_be_visible()
    page.get_by_role("button", name="The weather").click()
    expect(page.locator(".question-text")).to_have_count(2)


def test_the_page_follows_the_answer_only_for_a_reader_at_the_bottom(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Write much")
    socket.write("A paragraph.\n\n" * 80)
    expect(chat.locator("chat-answer p").nth(79)).to_be_in_viewport()
    jump = chat.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_hidden()

    chat.mouse.move(700, 300)
    chat.mouse.wheel(0, -600)
    expect(jump).to_be_visible()
    place = chat.evaluate("scrollY")
    socket.write("More.\n\n" * 40)
    expect(chat.locator("chat-answer p").nth(119)).to_be_attached()
    assert chat.evaluate("scrollY") == place
    jump.click()

    expect(chat.locator("chat-answer p").nth(119)).to_be_in_viewport()
    expect(jump).to_be_hidden()


def test_everything_can_be_done_with_the_keyboard(chat: Page, socket: ScriptedSocket) -> None:
    expect(question(chat)).to_be_focused()
    chat.keyboard.type("By hand")
    chat.keyboard.press("Enter")
    expect(chat.get_by_text("Thinking…")).to_be_visible()
    socket.say(type="stage.opened", stage="1", title="A step", parent=None)
    socket.say(type="stage.delta", stage="1", text="What came out.")
    socket.say(type="stage.closed", stage="1", failed=False, seconds=0.2)
    socket.write("```python\nprint(1)\n```\n")
    socket.end()
    expect(chat.locator("#said")).to_have_text("Answer complete.")

    reached = []
    chat.keyboard.press("Shift+Tab")
    for _ in range(10):
        reached.append(chat.evaluate("document.activeElement.innerText.trim().split('\\n')[0]"))
        chat.keyboard.press("Shift+Tab")
    # The buttons below a turn are one stop, and have no text.
    foot = ["Why this answer:", "Bad answer", "Good answer", ""]
    assert reached == ["Attach files", *foot, "print(1)", "Copy", "Download", "A step", ""]
    chat.locator(".steps summary").focus()
    chat.keyboard.press("Enter")
    expect(chat.get_by_text("What came out.")).to_be_visible()

    skip = chat.get_by_role("link", name="Skip to the content")
    for _ in range(30):
        if skip.evaluate("link => link === document.activeElement"):
            break
        chat.keyboard.press("Shift+Tab")
    expect(skip).to_be_in_viewport()
    chat.keyboard.press("Enter")
    expect(chat.locator("main")).to_be_focused()


def test_the_chosen_theme_is_there_before_the_first_paint(chat: Page) -> None:
    chat.emulate_media(color_scheme="light")
    chat.get_by_role("radio", name="Dark").check(force=True)
    dark = chat.evaluate("getComputedStyle(document.body).backgroundColor")

    chat.reload(wait_until="commit")

    expect(chat.locator("html")).to_have_attribute("data-theme", "dark")
    assert chat.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    chat.get_by_role("radio", name="As the system").check(force=True)
    assert chat.evaluate("getComputedStyle(document.body).backgroundColor") != dark


@pytest.mark.walkthrough
@pytest.mark.parametrize("path", ["/", ADDRESS, "/accounts/login/", "/nothing/here/"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(
    page: Page, application: str, socket: ScriptedSocket, path: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    if path == ADDRESS:
        expect(question(page)).to_be_visible()

    assert barriers(page) == []


@pytest.mark.walkthrough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_in_a_conversation_keeps_people_out(
    chat: Page, socket: ScriptedSocket, scheme: Any
) -> None:
    chat.emulate_media(color_scheme=scheme)
    ask(chat, socket, "Show everything")
    socket.say(type="stage.opened", stage="1", title="A step", parent=None)
    socket.say(type="stage.delta", stage="1", text="```json\n{}\n```\n\n|a|\n|-|\n|1|\n")
    socket.say(type="stage.closed", stage="1", failed=True, seconds=0.2)
    socket.write("# Top\n\n### Deep\n\n|a|b|\n|-|-|\n|1|2|\n\n```js\nlet a = 1;\n```\n\n$$x^2$$\n")
    socket.say(type="run.error", text="It broke.", reference="0a1b2c3d")
    socket.end("failed", attachments=[{"type": "text/markdown", "title": "Notes", "data": "# Hi"}])
    chat.locator("summary").first.click()
    expect(chat.get_by_role("button", name="Try again")).to_be_visible()
    expect(chat.locator("math")).to_be_visible()
    assert barriers(chat) == []

    socket.cut()
    expect(chat.locator("#notice")).to_be_visible()
    socket.deaf = True
    assert barriers(chat) == []


@pytest.mark.parametrize("width", [320, 390, 640])
def test_nothing_is_wider_than_a_small_screen(
    chat: Page, socket: ScriptedSocket, width: int
) -> None:
    chat.set_viewport_size({"width": width, "height": 700})
    socket.title = "A title of many words. " * 10
    ask(chat, socket, "w" * 300)
    socket.say(type="stage.opened", stage="1", title="t" * 200, parent=None)
    socket.say(type="stage.closed", stage="1", failed=True, seconds=100)
    socket.write(f"{'x' * 400}\n\n```\n{'y' * 400}\n```\n\n|{'|'.join('abcdefghij')}|\n|")
    socket.write("-|" * 10, "\n|", f"{'cell|' * 10}\n\n$${'a+' * 80}b$$\n")
    socket.end(attachments=[{"type": "application/pdf", "title": "z" * 200, "url": "files/a"}])
    expect(chat.locator("math")).to_be_visible()

    widths = chat.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths[0] <= widths[1]
    chat.get_by_role("button", name="Menu").click()
    expect(chat.get_by_role("link", name="New conversation")).to_be_in_viewport()
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("link", name="New conversation")).not_to_be_in_viewport()


def test_on_a_phone_the_account_is_behind_a_button_beside_the_brand(
    page: Page, application: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto("/")
    button = page.get_by_role("button", name="Account")
    middles = [
        box["y"] + box["height"] / 2
        for place in (button, page.locator(".bar .brand"))
        if (box := place.bounding_box())
    ]
    assert abs(middles[0] - middles[1]) < 4
    expect(page.get_by_role("link", name="Sign in")).to_be_hidden()

    button.press("Enter")

    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert barriers(page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/account-menu-390.png")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Sign in")).to_be_hidden()


def test_only_beginnings_ends_and_failures_are_read_out(chat: Page, socket: ScriptedSocket) -> None:
    chat.evaluate(
        """() => {
          window.said = [];
          const region = document.getElementById("said");
          new MutationObserver(() => region.textContent && said.push(region.textContent))
            .observe(region, {childList: true, subtree: true, characterData: true});
        }"""
    )
    said = chat.locator("#said")
    ask(chat, socket, "Speak")
    expect(said).to_have_text("Answer started.")
    socket.say(type="stage.opened", stage="1", title="A step", parent=None)
    socket.say(type="stage.closed", stage="1", failed=True, seconds=0.2)
    expect(said).to_have_text("Step failed: A step.")
    socket.write("many ", "many ", "words")
    expect(chat.get_by_text("many many words")).to_be_visible()
    socket.end()
    expect(said).to_have_text("Answer complete.")

    expected = ["Answer started.", "Step failed: A step.", "Answer complete."]
    assert chat.evaluate("said") == expected
    expect(chat.get_by_role("log")).to_have_attribute("aria-live", "off")


def test_the_data_of_the_page_cannot_leave_its_element(
    page: Page, site: Site, socket: ScriptedSocket, starters: Any
) -> None:
    title = "</script><script>document.title='taken'</script>"
    starters(starters=[{"title": title, "text": "x"}])
    page.goto(ADDRESS)

    expect(page.get_by_role("button", name=title)).to_be_visible()
    assert (
        json.loads(page.locator("#page-data").inner_text())["starters"]["starters"][0]["title"]
        == title
    )


FIGURES: dict[str, Any] = {
    "usage": {
        "prompt_tokens": 1200,
        "cached_tokens": 250,
        "completion_tokens": 34,
        "reasoning_tokens": 5,
    },
    "models": ["Big one", "Small one"],
    "version": 3,
    "costs": {"USD": "0.0123", "EUR": "1.5"},
    "first_text_seconds": 0.4,
}


def test_the_figures_of_an_answer_are_unfolded_with_the_keyboard(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Why?")
    socket.write("Because.")
    socket.end(**FIGURES)

    line = chat.locator(".figures")
    expect(line.locator("summary")).to_have_text(
        "Why this answer:2.4 s · 1,234 tokens · $0.012 + €1.50"
    )
    line.locator("summary").focus()
    chat.keyboard.press("Enter")

    expect(line.locator("dt")).to_have_text(
        [
            "Models",
            "Application version",
            "Tokens in",
            "Tokens out",
            "Cost",
            "First text after",
            "Duration",
        ]
    )
    expect(line.locator("dd")).to_have_text(
        [
            "Big one, Small one",
            "3",
            "1,200, 250 of them from the cache",
            "34, 5 of them for thinking",
            "$0.012 + €1.50",
            "0.4 s",
            "2.4 s",
        ]
    )
    for width in (1100, 390):
        chat.set_viewport_size({"width": width, "height": 800})
        assert barriers(chat) == []


def test_the_head_sums_a_conversation_up(chat: Page, socket: ScriptedSocket) -> None:
    total = chat.locator("#conversation-sum")
    for costs, text in (
        ({"USD": "0.25"}, "154 tokens · $0.25"),
        ({"USD": "1"}, "308 tokens · $1.25"),
        (None, "462 tokens · at least $1.25"),
    ):
        ask(chat, socket, f"Next: {text}")
        socket.write("Yes.")
        socket.end(costs=costs)

        expect(total).to_have_text(text)


def test_what_is_switched_off_leaves_no_trace(chat: Page, socket: ScriptedSocket) -> None:
    ask(chat, socket, "Why?")
    socket.say(type="stage.opened", stage="1", title="Clock", parent=None)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=None)
    socket.write("Because.")
    socket.end(usage=None, seconds=None)

    expect(chat.locator(".answer-foot .figures")).to_have_text(
        "Why this answer:Details What the model saw (a new tab)"
    )
    expect(chat.locator(".step-time")).to_have_count(0)
    expect(chat.locator("#conversation-sum")).to_be_hidden()


def test_the_socket_of_a_page_is_opened_once_and_does_not_wait_for_the_modules(
    page: Page, application: str
):
    sockets: list[WebSocket] = []
    page.on("websocket", lambda opened: sockets.append(opened))
    page.goto(application)
    question(page).fill("Hello")
    question(page).press("Enter")
    expect(page.locator("chat-answer")).to_have_count(1)
    with_modules = len(sockets)
    page.route(re.compile(r"/page[.\w]*\.js$"), lambda route: route.abort())
    page.reload()
    assert (with_modules, len(sockets)) == (1, 2)
