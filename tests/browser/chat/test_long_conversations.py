"""A conversation of thousands of messages on the real site sends and renders little."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chat.test_chat import MANIFEST
from tests.browser.conftest import barriers
from tests.sites.serving import Site

SLUG = "long-conversations"
TURNS = 1_500
MOST_DRAWN = 100


@pytest.fixture(scope="module")
def application(site: Site) -> str:
    """Return the address of a public application."""
    site.shell(
        "Application.objects.create(slug=slug, title='Long', is_public=True, manifest=manifest)",
        slug=SLUG,
        manifest=MANIFEST,
    )
    return f"/chat/{SLUG}/"


@pytest.fixture(scope="module")
def conversation(site: Site, application: str) -> str:
    """Return the address of a conversation of ADMIN with 3,000 messages."""
    key = site.shell(
        """
        from django.contrib.auth.models import User
        from tests.chat.long_conversations import add_turns
        conversation = Conversation.objects.create(
            application=Application.objects.get(slug=slug),
            owner=f"user-{User.objects.get(username='admin').pk}",
            title="Long",
        )
        add_turns(conversation, count)
        result = str(conversation.pk)
        """,
        slug=SLUG,
        count=TURNS,
    )
    return f"{application}{key}/"


def drawn(page: Page) -> int:
    return page.locator(".turn").count()


def place_of(page: Page, number: int) -> float:
    """Return the distance of a question from the top of the screen."""
    box = page.get_by_text(f"Question number {number}", exact=True).bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.slow("a walk through several pages in a browser")
def test_the_end_is_shown_first_and_scrolling_up_brings_what_was_before(
    admin_page: Page, conversation: str
) -> None:
    page = admin_page
    frames: list[str | bytes] = []
    page.on("websocket", lambda one: one.on("framereceived", lambda said: frames.append(said)))
    page.goto(conversation)
    expect(page.get_by_text("Question number 1499", exact=True)).to_be_in_viewport()
    received = len(frames)
    sizes = sum(map(len, frames))

    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    expect(page.get_by_text("Question number 1485", exact=True)).to_be_attached()
    most = 0
    for _ in range(12):
        before = page.locator("chat-turns").count()
        page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
        expect(page.locator("chat-turns")).not_to_have_count(before)
        most = max(most, drawn(page))

    assert received <= 6
    assert sizes < 40_000
    assert most <= MOST_DRAWN
    assert drawn(page) <= MOST_DRAWN
    assert barriers(page) == []


def test_what_is_read_keeps_its_place_while_earlier_turns_arrive(
    admin_page: Page, conversation: str
) -> None:
    page = admin_page
    held: list[Route] = []
    page.route("**/turns/?**", lambda route: held.append(route), times=1)
    page.goto(conversation)
    expect(page.get_by_text("Question number 1499", exact=True)).to_be_in_viewport()
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    expect(page.get_by_text("Question number 1492", exact=True)).to_be_in_viewport()
    while not held:
        page.wait_for_timeout(10)
    before = place_of(page, 1492)

    held[0].continue_()
    expect(page.get_by_text("Question number 1491", exact=True)).to_be_attached()
    page.evaluate(
        "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
    )
    after = place_of(page, 1492)

    assert abs(after - before) < 2


@pytest.mark.slow("uses several pages in a browser")
def test_an_address_with_a_message_leads_to_it_and_what_is_between_can_be_read(
    site: Site, admin_page: Page, conversation: str
) -> None:
    page = admin_page
    message = site.shell(
        """
        found = Message.objects.filter(conversation=key, text="Question number 700").get()
        result = str(found.uuid)
        """,
        key=conversation.rstrip("/").rpartition("/")[2],
    )
    page.goto(f"{conversation}#message-{message}")

    sought = page.get_by_text("Question number 700", exact=True)
    expect(sought).to_be_in_viewport()
    expect(page.locator(f"#message-{message}")).to_be_focused()
    page.get_by_text("Question number 705", exact=True).scroll_into_view_if_needed()
    expect(page.get_by_text("Question number 710", exact=True)).to_be_attached()
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.get_by_text("Question number 1499", exact=True)).to_be_in_viewport()
