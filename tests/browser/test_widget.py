"""The widget in a frame on another site, with a strict policy on both and blocked cookies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from playwright.sync_api import Frame, FrameLocator, Page, expect

from tests.browser.conftest import barriers
from tests.browser.serving import Site
from tests.browser.widget_host import serve_shop

BLOCKED = {
    "enableThirdPartyCookieRestriction": True,
    "disableThirdPartyCookieMetadata": True,
    "disableThirdPartyCookieHeuristics": True,
}
LISTEN = """
() => {
  window.heard = [];
  for (const name of ["opened", "closed", "message", "error", "size"]) {
    QuickApps.addEventListener(name, ({detail}) => heard.push([name, detail]));
  }
}
"""
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [],
}


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as origin:
        yield origin


@pytest.fixture
def shop_page(page: Page) -> Page:
    """A page in a browser that blocks third-party cookies."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCookieControls", BLOCKED)
    return page


def add_widget(site: Site, *origins: str, **fields: Any) -> str:
    slug = f"shop-{uuid4().hex[:6]}"
    site.shell(
        """
        from apps.catalog.models import Widget
        row = Application.objects.create(
            **{"slug": slug, "title": "Shop desk", "is_public": True, "manifest": manifest, **fields}
        )
        Widget.objects.create(
            application=row, is_enabled=True, origins=origins, identity_key="k" * 43
        )
        """,
        slug=slug,
        origins=[*origins],
        manifest=MANIFEST,
        fields=fields,
    )
    return slug


def open_shop(page: Page, shop: str, site: Site, slug: str, **data: str) -> FrameLocator:
    query = urlencode({"site": site.url, "app": slug, **data})
    page.goto(f"{shop}/?{query}")
    page.wait_for_function("window.QuickApps")
    page.evaluate(LISTEN)
    return page.frame_locator("iframe")


def inner(page: Page) -> Frame:
    return page.frames[1]


def ask(frame: FrameLocator, text: str) -> None:
    frame.get_by_label("Your question").fill(text)
    frame.get_by_role("button", name="Send").click()


@pytest.mark.walkthrough
def test_a_visitor_asks_on_another_site_and_finds_the_answer_again(
    site: Site, shop: str, shop_page: Page
):
    slug = add_widget(site, shop)
    frame = open_shop(shop_page, shop, site, slug)
    frame.get_by_role("button", name="Open the chat").click()

    ask(frame, "What is the weather in Oslo?")
    answer = frame.locator("chat-answer .answer-text").first
    expect(answer).not_to_be_empty()
    expect(frame.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    text = answer.inner_text()

    assert inner(shop_page).evaluate("document.hasStorageAccess()") is False
    assert inner(shop_page).evaluate("document.cookie") == ""
    assert [one["name"] for one in shop_page.context.cookies()] == []
    frame = open_shop(shop_page, shop, site, slug)
    frame.get_by_role("button", name="Open the chat").click()
    expect(frame.locator("chat-answer .answer-text").first).to_have_text(text)
