"""An operator overrides a built-in item and resets it."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers

PAGE = "/admin/catalog/contentitem/item/prompt/gpt_prompt/"


@pytest.mark.slow("a walk through several pages in a browser")
def test_an_item_is_overridden_previewed_compared_and_reset(admin_page: Page):
    page = admin_page
    page.goto("/admin/catalog/contentitem/?q=gpt")
    assert barriers(page) == []
    page.get_by_role("link", name="GPT prompt").click()
    page.get_by_role("link", name="Override").click()
    text = page.locator("textarea[name=text]")
    text.fill("Be <b>brief</b> on {today}.")
    page.get_by_role("button", name="Check and preview without saving").click()
    preview = page.locator("[data-content-preview]")
    expect(preview.get_by_role("status")).to_have_text("No issues.")
    expect(preview.locator("pre")).to_contain_text("Be <b>brief</b> on 2")
    assert barriers(page) == []

    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**{PAGE}")
    expect(page.locator("ins")).to_have_text("added: + Be <b>brief</b> on {today}.")
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.reload(wait_until="networkidle")
        assert (scheme, barriers(page)) == (scheme, [])

    page.get_by_role("link", name="Reset").click()
    expect(page.get_by_text("is active again")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(f"**{PAGE}")
    expect(page.get_by_role("link", name="Override")).to_be_visible()
