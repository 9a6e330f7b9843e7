"""Messages that are sent while an answer is running, on the real site in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.chat.test_interactions import CARD, guarded_shop
from tests.browser.conftest import barriers_of_looks
from tests.sites.serving import Site

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
    """Ask a question that waits for approval. Return the queue."""
    page.goto(address)
    send(page, "call Weather_now")
    expect(page.locator(CARD)).to_be_visible()
    return page.locator(".queue li")


def questions(page: Page) -> Locator:
    return page.locator("chat-log .question-text")


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_message_is_queued_changed_and_asked_after_the_answer(
    page: Page, address: str, context: BrowserContext
):
    items = waiting(page, address)
    question(page).fill("say Second")
    expect(page.locator(".composer-hint")).to_have_text(
        "Press Enter to queue the message. It will be sent after this answer."
    )
    question(page).press("Enter")
    send(page, "say Third")
    expect(items.locator(".question-text")).to_have_text(["say Second", "say Third"])
    expect(question(page)).to_have_value("")
    expect(page.locator("#said")).to_have_text("Message queued. It will be sent after this answer.")
    assert barriers_of_looks(page) == []

    page.reload()
    page.get_by_role("button", name="Edit say Second").press("Enter")
    field = page.get_by_role("textbox", name="Queued message")
    expect(field).to_be_focused()
    assert barriers_of_looks(page) == []
    field.fill("say Changed")
    field.press("Enter")
    expect(page.get_by_role("button", name="Edit say Changed")).to_be_focused()
    second = context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Remove say Third").click()
    expect(items.locator(".question-text")).to_have_text(["say Changed"])

    page.get_by_role("button", name="Approve").click()
    expect(questions(page)).to_have_text(["call Weather_now", "say Changed"])
    expect(questions(second)).to_have_text(["call Weather_now", "say Changed"])
    expect(page.locator(".answer-foot")).to_have_count(2)
    expect(items).to_have_count(0)
