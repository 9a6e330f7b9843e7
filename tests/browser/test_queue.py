"""Messages that are sent while an answer is going: the real site, a real browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import barriers
from tests.browser.scripted import ScriptedSocket
from tests.browser.serving import Site
from tests.browser.test_interactions import CARD, guarded_shop

SLUG = "queue"


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with guarded_shop(site, SLUG) as found:
        yield found


def question(page: Page) -> Locator:
    return page.get_by_label("Your question")


def send(page: Page, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")


def waiting(page: Page, address: str) -> Locator:
    """Ask something that waits for approval; the queue."""
    page.goto(address)
    send(page, "call Weather_now")
    expect(page.locator(CARD)).to_be_visible()
    return page.locator(".queue li")


def questions(page: Page) -> Locator:
    return page.locator("chat-log .question-text")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_message_is_queued_changed_and_asked_after_the_answer(
    page: Page, address: str, context: BrowserContext, scheme: Any, width: int
):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    items = waiting(page, address)
    question(page).fill("say Second")
    expect(page.locator(".composer-hint")).to_have_text(
        "Enter queues the message: it is sent after this answer."
    )
    question(page).press("Enter")
    send(page, "say Third")
    expect(items.locator(".question-text")).to_have_text(["say Second", "say Third"])
    expect(question(page)).to_have_value("")
    expect(page.locator("#said")).to_have_text("Message queued. It is sent after this answer.")
    assert barriers(page) == []

    page.reload()
    page.get_by_role("button", name="Edit say Second").press("Enter")
    field = page.get_by_role("textbox", name="Queued message")
    expect(field).to_be_focused()
    assert barriers(page) == []
    field.fill("say Changed")
    field.press("Enter")
    expect(page.get_by_role("button", name="Edit say Changed")).to_be_focused()
    second = context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Remove say Third").click()
    expect(items.locator(".question-text")).to_have_text(["say Changed"])
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/queue-{scheme}-{width}.png")

    page.get_by_role("button", name="Approve").click()
    expect(questions(page)).to_have_text(["call Weather_now", "say Changed"])
    expect(questions(second)).to_have_text(["call Weather_now", "say Changed"])
    expect(page.locator(".answer-foot")).to_have_count(2)
    expect(items).to_have_count(0)


def test_a_message_that_is_being_changed_is_not_sent(page: Page, address: str):
    items = waiting(page, address)
    send(page, "say Secnd")
    page.get_by_role("button", name="Edit say Secnd").click()
    page.get_by_role("textbox", name="Queued message").fill("say Second")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".answer-foot")).to_be_visible()
    expect(page.get_by_role("textbox", name="Queued message")).to_have_value("say Second")

    page.get_by_role("button", name="Save").click()
    expect(questions(page)).to_have_text(["call Weather_now", "say Second"])
    expect(items).to_have_count(0)


def test_a_message_stops_the_answer_and_is_sent(page: Page, address: str):
    page.goto(address)
    send(page, "hang")
    expect(page.locator("chat-answer > markdown-text")).to_be_visible()
    send(page, "say Now")
    page.get_by_role("button", name="Stop and send now say Now").click()

    expect(page.locator("chat-answer .notice")).to_contain_text("Stopped.")
    expect(questions(page)).to_have_text(["hang", "say Now"])
    expect(question(page)).to_be_focused()
    expect(page.locator(".answer-foot")).to_have_count(2)


def test_after_a_stop_the_queue_stays_and_is_sent_by_hand(page: Page, address: str):
    items = waiting(page, address)
    send(page, "say Later")
    expect(items).to_have_count(1)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(items.locator(".question-state")).to_have_text("Kept back until you send it")
    page.reload()

    page.get_by_role("button", name="Send now say Later").click()
    expect(questions(page)).to_have_text(["call Weather_now", "say Later"])
    expect(items).to_have_count(0)


def test_what_is_typed_stays_while_there_is_no_connection(
    page: Page, address: str, context: BrowserContext
):
    items = waiting(page, address)
    context.set_offline(True)
    page.evaluate("dispatchEvent(new Event('offline'))")
    send(page, "say Kept")
    expect(page.locator(".composer-hint")).to_have_text("No connection: what you write stays here.")
    expect(question(page)).to_have_value("say Kept")
    expect(items).to_have_count(0)

    context.set_offline(False)
    expect(page.locator("#notice")).to_be_hidden()
    question(page).press("Enter")
    expect(items.locator(".question-text")).to_have_text(["say Kept"])


ASKED = {"question": "Where to?", "input": "text", "options": [], "freeform": True}


def test_the_composer_answers_a_question_that_takes_words(page: Page, address: str):
    socket = ScriptedSocket()
    socket.serve(page)
    page.goto(address)
    send(page, "Plan a trip")
    key = {"key": "t:1:0:a", "kind": "question"}
    socket.say(type="interaction.requested", **key, asked=ASKED, due=None)
    socket.say(type="run.status", status="waiting")
    expect(question(page)).to_have_attribute("placeholder", "Answer the question above…")
    expect(page.locator(".composer-hint")).to_have_text("Enter answers the question above.")
    assert barriers(page) == []

    send(page, "Riga")
    page.wait_for_function("document.querySelector('.interaction .fields')?.disabled")
    answer = {"outcome": "answered", "choices": [], "text": "Riga"}
    assert socket.received[-1] == {"type": "answer", "run": socket.run, **key, "answer": answer}
    socket.refuse("Try again.", "internal_error")
    expect(question(page)).to_have_value("Riga")

    question(page).press("Enter")
    socket.say(type="interaction.resolved", **key, answer=answer, by="you", at=1.5)
    expect(page.locator(".decision")).to_contain_text("Answered by you")
    expect(question(page)).to_have_value("")


def test_the_list_and_the_title_follow_other_conversations(
    page: Page, address: str, context: BrowserContext
):
    page.goto(address)
    other = context.new_page()
    waiting(other, address)

    expect(page.locator(".history-mark[data-state=waiting]").first).to_be_visible()
    expect(page).to_have_title("(1) Queue")
