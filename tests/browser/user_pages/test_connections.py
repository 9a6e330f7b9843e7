"""Users connect an account with a card: the real site, a real sign-in, a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chat.test_interactions import CARD, PREPARE
from tests.browser.conftest import barriers
from tests.capabilities.mcp.servers import over_http
from tests.peers.upstream import serve_upstream
from tests.servers.sign_in_service import SignInService, serve_sign_in
from tests.sites.serving import Site

SLUG = "connections"


@pytest.fixture(scope="module")
def service(site: Site) -> Iterator[SignInService]:
    with serve_upstream() as upstream, serve_sign_in() as served:
        toolset = over_http(served.service.mcp_url, authorization={"type": "oauth"})
        site.shell(PREPARE, url=upstream.url, slug=SLUG, toolset={**toolset, "name": "notes"})
        yield served.service


def ask(page: Page) -> None:
    page.goto(f"/chat/{SLUG}/")
    question = page.get_by_label("Your question")
    question.fill("call notes_connect_account")
    question.press("Enter")


@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.slow("uses several pages in a browser")
def test_an_account_is_connected_by_keyboard_in_another_tab_and_disconnected(
    page: Page, context: BrowserContext, service: SignInService, scheme: Any, width: int
):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    ask(page)
    card = page.locator(CARD)
    expect(card).to_be_focused()
    expect(card.get_by_role("heading")).to_have_text("Connect notes to continue")
    expect(card).to_contain_text(service.url.removeprefix("http://"))
    expect(card.get_by_role("timer")).to_contain_text("left")
    assert barriers(page) == []
    page.keyboard.press("Tab")
    expect(card.get_by_role("link", name="Connect")).to_be_focused()
    with context.expect_page() as opened:
        page.keyboard.press("Enter")
    tab = opened.value

    expect(tab.get_by_role("heading", name="Connected")).to_be_visible()
    assert barriers(tab) == []
    assert tab.evaluate("window.opener") is None
    expect(page.locator(".decision")).to_contain_text("Connected by you")
    expect(page.locator("chat-answer > markdown-text")).to_contain_text("notes is connected")
    tab.get_by_role("link", name="Your connections").click()
    expect(tab.get_by_role("heading", name="notes")).to_be_visible()
    assert barriers(tab) == []
    tab.get_by_role("button", name="Disconnect notes").click()
    expect(tab.get_by_role("heading", name="No connections yet")).to_be_visible()


def test_a_card_is_skipped(page: Page, service: SignInService):
    ask(page)
    page.locator(CARD).get_by_role("button", name="Skip").click()

    expect(page.locator(".decision")).to_contain_text("Skipped by you")
    expect(page.locator("chat-answer > markdown-text")).to_contain_text("did not want to connect")
