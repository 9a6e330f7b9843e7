"""Chooses the source of new tools in the studio."""

from playwright.sync_api import Page


def source(page: Page, name: str) -> None:
    """Choose a source with the keyboard. Its form gets the focus."""
    page.get_by_role("button", name="Or add from:").press("ArrowDown")
    page.get_by_role("option", name=name).press("Enter")
