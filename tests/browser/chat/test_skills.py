"""An operator writes a skill with a further file, and the demo reads both on request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin.publishing import publish_content
from tests.browser.chat.test_demo import ask, wait_for_answer
from tests.browser.conftest import barriers
from tests.sites.serving import Site

SKILL = "---\nname: price-list\ndescription: What things cost.\n---\nUse the rates of the year.\n"
RATES = "boat,90\nsail,12\n"


@pytest.fixture(scope="module", autouse=True)
def _own_rows(site: Site) -> Iterator[None]:
    """Delete the skills afterwards, because every application of the site is offered them."""
    site.manage("import_content")
    yield
    site.shell(
        "from apps.catalog.content.models import ContentItem\nContentItem.objects.all().delete()"
    )


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_skill_that_was_just_written_is_read_with_its_file(admin_page: Page) -> None:
    page = admin_page
    page.goto("/admin/catalog/contentitem/add/?kind=skill&name=price-list")
    page.get_by_label("SKILL.md*").fill(SKILL)
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path").fill("rates/2026.csv")
    page.get_by_role("textbox", name="Text", exact=True).fill(RATES)
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()

    publish_content(page, "Demo", "A price list")

    page.goto("/chat/demo/")
    ask(page, "Read rates/2026.csv of the skill price-list")
    said = wait_for_answer(page)

    assert "Use the rates of the year." in said
    assert "boat,90" in said
    stages = page.locator(".step-title", has_text="Reading Skill: price-list")
    expect(stages).to_have_count(2)
    page.locator(".activity > summary").last.click()
    stages.last.click()
    expect(page.get_by_text("file_path").last).to_be_visible()
    assert barriers(page) == []
