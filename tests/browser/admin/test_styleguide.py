"""The style guide shows every element without accessibility problems, in all themes and widths."""

from __future__ import annotations

import os
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers

THEMES = ("light", "dark", "contrast")
TRANSPARENT = "rgba(0, 0, 0, 0)"
COLORS = """
() => [...document.querySelectorAll(".guide-color")].map((one) => [one.dataset.token, getComputedStyle(one).backgroundColor])
"""
FONTS = "() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)"


@pytest.mark.slow("axe reads the whole guide in three themes at two widths")
def test_every_element_has_its_colors_and_no_barriers_in_every_theme(admin_page: Page) -> None:
    page = admin_page
    page.goto("/styleguide/")
    expect(page.locator("markdown-text table")).to_be_visible()
    found = {}
    for theme in THEMES:
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 900})
            assert (theme, width, barriers(page)) == (theme, width, [])
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        colors = dict(page.evaluate(COLORS))
        assert [name for name, color in colors.items() if color == TRANSPARENT] == []
        found[theme] = colors
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=f"{folder}/styleguide-{theme}.png", full_page=True)
    assert found["light"]["paper"] != found["dark"]["paper"] != found["contrast"]["paper"]
    assert "Inter Text" in page.evaluate(FONTS)


def test_a_list_is_searched_and_chosen_from_with_the_keyboard(admin_page: Page) -> None:
    page = admin_page
    page.goto("/styleguide/")
    button = page.get_by_role("button", name="Many: Cork")
    button.press("Enter")
    expect(page.get_by_role("searchbox", name="Search", exact=True)).to_be_focused()
    page.keyboard.type("hel")
    expect(page.get_by_role("listbox", name="Many").get_by_role("option")).to_have_text(
        ["Helsinki"]
    )
    assert barriers(page) == []
    page.keyboard.press("Escape")  # clears the search, as in every search field
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    page.get_by_role("button", name="A few: Default").press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="Low")).to_be_focused()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Menu", exact=True).last.press("Enter")
    expect(page.get_by_role("button", name="Rename", exact=True)).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_focused()
    assert barriers(page) == []


def test_only_staff_read_it(page: Page) -> None:
    page.goto("/styleguide/")

    page.wait_for_url(re.compile("/login/.*styleguide"))
