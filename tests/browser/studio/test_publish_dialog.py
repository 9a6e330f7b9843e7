"""The dialog for publishing names changes as the studio names its fields, and fits a phone like the studio's bar."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.conftest import barriers, barriers_of_looks
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

NEXT = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def studio(site: Site) -> Iterator[str]:
    """Return the path of the studio of a live application with a REST tool."""
    number = site.shell(
        """
        from tests.catalog.rows import manifest_with, store_application
        from tools.pictures.more_views import trips
        manifest = {
            **trips(),
            "conversation_starters": {"starters": [{"title": "Hi", "text": "Hi!"}]},
            "contexts": [{"type": "user-defined", "content": "Be brief."}],
        }
        row = store_application(slug="trips-here", title="Trips", manifest=manifest, is_enabled=True)
        result = row.pk
        """
    )
    yield f"/admin/catalog/application/{number}/studio/"
    site.shell("Application.objects.filter(pk=number).delete()", number=number)


def height(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["height"]


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_changes_are_named_as_their_fields(admin_page: Page, studio: str):
    page = admin_page
    page.goto(f"{studio}#tools")
    page.locator(".studio-toolset summary", has_text="Settings").first.click()
    page.locator(".studio-tool summary").first.click()
    page.get_by_label("URL", exact=True).fill("/demo/forecast")
    publish = page.get_by_role("button", name="Publish…")
    publish.click()

    dialog = page.get_by_role("dialog", name="Publish version 2")
    expect(dialog.get_by_label("Release note")).to_be_focused()
    change = page.locator(".studio-differences dt")
    expect(change).to_have_text(f"{NEXT.join(('Tools', 'Trips', 'book_trip', 'URL'))} changed")
    expect(change.locator("strong")).to_have_attribute(
        "title", "tool_sets[0].tools[0].rest_api_method_info.method_url"
    )
    found = barriers(page)
    page.set_viewport_size(PHONE)
    assert dialog.bounding_box() == {"x": 0, "y": 0, **PHONE}
    found += barriers_of_looks(page)
    page.keyboard.press("Escape")
    expect(publish).to_be_focused()
    assert (found, dialog.count()) == ([], 0)


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_bar_of_the_studio_has_one_line_on_a_phone(admin_page: Page, studio: str):
    page = admin_page
    page.set_viewport_size(PHONE)
    page.goto(f"{studio}#instructions")
    bar = page.locator(".studio-bar-line")
    expect(page.get_by_role("button", name="Try it")).to_be_visible()
    assert height(bar) < 48
    expect(bar.locator(".studio-actions :disabled").filter(visible=True)).to_have_count(0)

    more = page.get_by_role("button", name="More actions")
    more.click()
    expect(page.get_by_role("link", name="Open in chat")).to_be_visible()
    expect(page.get_by_role("button", name="Save draft")).to_be_hidden()
    page.get_by_role("link", name="Open in chat").press("Escape")
    expect(more).to_be_focused()

    page.get_by_label("Prompt", exact=True).fill("Be very brief.")
    expect(page.get_by_role("button", name="Publish…")).to_be_visible()
    assert height(bar) < 96
    more.click()
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Saved.")
    expect(page.get_by_role("button", name="Save draft")).to_be_hidden()
    assert barriers_of_looks(page) == []

    page.get_by_role("button", name="Try it").click()
    question = page.get_by_label("Your question")
    expect(question).to_be_focused()
    sheet = page.get_by_role("complementary", name="Try the draft")
    window = page.evaluate("({x: 0, y: 0, width: innerWidth, height: innerHeight})")
    assert sheet.bounding_box() == window
    assert barriers_of_looks(page) == []
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()
