"""Publish an operator's changes in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers


def publish_content(page: Page, title: str, note: str) -> None:
    """Let an application adopt the changes of predefined content."""
    page.goto("/admin/catalog/contentitem/unpublished/")
    found = barriers(page)
    assert found == [], found
    page.get_by_label(f"Publish {title} with this").check()
    page.get_by_label("Release note").fill(note)
    page.get_by_role("button", name="Publish selected applications").click()
    expect(page.get_by_text(f"{title} was published.")).to_be_visible()
