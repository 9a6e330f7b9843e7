"""An application is deleted while its owner has a conversation open."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers, open_more
from tests.sites.serving import Site

ENDED = "is no longer available. You can still read, download or delete this conversation, or continue it in another app."
CREATE = """
from apps.catalog.models import Application
manifest = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []}
result = Application.objects.create(slug=slug, title=title, is_public=True, manifest=manifest).pk
"""
DELETE = "from apps.catalog.models import Application; Application.objects.get(slug=slug).delete()"


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


@pytest.fixture
def slug(site: Site) -> str:
    name = f"travel-{uuid4().hex[:8]}"
    site.shell(CREATE, slug=name, title=f"Travel {name}")
    return name


def ask(page: Page, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")


@pytest.mark.slow("a walk through several pages in a browser")
def test_its_owner_is_told_finds_it_again_downloads_and_deletes_it(
    site: Site, page: Page, slug: str
) -> None:
    page.goto(f"/chat/{slug}/")
    ask(page, "Where to?")
    wait_for_answer(page)
    said = page.locator(".answer-text").inner_text()
    site.shell(DELETE, slug=slug)

    ask(page, "And then?")
    expect(page.locator("#problem")).to_contain_text(ENDED)
    expect(question(page)).to_have_value("And then?")

    page.goto("/")
    section = page.get_by_role("region", name="Earlier conversations")
    expect(section.get_by_role("heading", name=f"Travel {slug}")).to_be_visible()
    assert barriers(page) == []
    section.get_by_role("link", name="Where to?").click()

    wait_for_answer(page)
    assert page.locator(".answer-text").inner_text() == said
    expect(page.locator(".composer.ended")).to_contain_text(ENDED)
    expect(question(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    with page.expect_download() as download:
        open_more(page)
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "Where to_.md"
    assert "## Question" in Path(download.value.path()).read_text()

    page.get_by_role("link", name="Where to?").hover()
    page.get_by_role("button", name="More options for Where to?").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.wait_for_url(f"{site.url}/")
    expect(page.get_by_role("heading", name=f"Travel {slug}")).to_have_count(0)


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_nothing_keeps_people_out(site: Site, page: Page, slug: str) -> None:
    page.goto(f"/chat/{slug}/")
    ask(page, "Where to?")
    wait_for_answer(page)
    site.shell(DELETE, slug=slug)
    looks: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 390))
    for scheme, width in looks:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        expect(page.locator(".composer.ended")).to_be_visible()
        wait_for_answer(page)

        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
