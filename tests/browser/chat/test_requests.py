"""A place in the page's address, and the page with the model's requests, with the keyboard only."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site

PLACE = """
from apps.catalog.content.models import ContentItem
text = "---\\ntitle: Orders\\n---\\nThe person works through orders."
ContentItem.objects.create(kind="place", name="orders", text=text)
"""


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")
    site.shell(PLACE)


@pytest.mark.slow("a walk through several pages in a browser")
def test_the_place_is_seen_with_the_question_and_so_is_what_the_model_saw(page: Page) -> None:
    problems = watch(page)
    page.goto("/chat/demo/?place=orders&narrative=order%204711")
    question(page).fill("Hello")
    question(page).press("Enter")
    wait_for_answer(page)

    expect(page.locator(".question-place")).to_have_text("Orders: order 4711")
    assert barriers(page) == []
    page.locator("details.figures > summary").press("Enter")
    link = page.get_by_role("link", name="What the model saw")
    with page.expect_popup() as opened:
        link.press("Enter")
    seen = opened.value
    shown = seen.get_by_text("[The person is at “Orders” and looks at: order 4711]")
    for _ in range(120):  # it is written a second later
        if shown.count():
            break
        seen.wait_for_timeout(500)
        seen.reload()

    expect(shown).to_be_visible()
    expect(seen.get_by_text("The person works through orders.")).to_be_visible()
    tool = seen.locator("details", has_text="internal_").last
    tool.locator("summary").press("Enter")
    expect(tool.locator("pre")).to_be_visible()
    assert barriers(seen) == []
    page.reload()
    expect(page.locator(".question-place")).to_have_text("Orders: order 4711")
    assert problems == []
