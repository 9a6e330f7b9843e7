"""The page that describes the API, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import barriers


@pytest.fixture(params=[("light", 1280), ("dark", 360)], ids=str)
def docs(request: pytest.FixtureRequest, context: BrowserContext) -> Page:
    scheme, width = request.param
    page = context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/api/docs/")
    return page


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_nothing_keeps_anybody_out(docs: Page):
    assert barriers(docs) == []
    wide = docs.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide


def test_it_is_found_and_read_by_keyboard(context: BrowserContext):
    page = context.new_page()
    page.goto("/api/docs/")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Objects":
            break
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Objects")).to_be_in_viewport()
    page.get_by_role("link", name="ApplicationRequest").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="ApplicationRequest", exact=True)).to_be_in_viewport()
