"""An application's draft and its versions, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

LIST = "/admin/catalog/application/"
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [],
}


@pytest.fixture
def number(site: Site) -> int:
    found: int = site.shell(
        """
        from apps.catalog.models import Application
        from apps.catalog.versions.version_recorder import save_live
        row = Application(slug="versioned", title="Versioned", manifest=manifest)
        save_live(row)
        result = row.pk
        """,
        manifest=MANIFEST,
    )
    return found


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_what_is_saved_as_a_draft_is_compared_published_and_taken_back(
    admin_page: Page, number: int, site: Site, scheme: str, width: int
):
    page = admin_page
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{LIST}{number}/studio/#instructions")
    page.get_by_text("Title, description and icon").click()
    page.get_by_label("Title", exact=True).fill("Another title")
    page.keyboard.press("Control+s")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Saved.")

    page.goto(f"{LIST}{number}/versions/")
    expect(page.get_by_text("Live with unpublished changes")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Compare the draft").click()
    expect(page.locator("ins")).to_contain_text("Another title")
    assert barriers(page) == []
    page.goto(f"{LIST}{number}/versions/publish/")
    page.get_by_label("Release note").fill("The title")
    assert barriers(page) == []
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 2 is live.")).to_be_visible()
    page.get_by_text("Restore or withdraw").click()
    page.get_by_label("Reason for restoring").fill("The old title was better")
    assert barriers(page) == []
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("The content of version 1 is live again.")).to_be_visible()

    title = site.shell(
        "from apps.catalog.models import Application\n"
        "row = Application.objects.get(pk=number)\n"
        "result = [row.title, row.live_number]\n"
        "row.delete()",
        number=number,
    )
    assert title == ["Versioned", 3]
