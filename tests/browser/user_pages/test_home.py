"""The home page: a conversation with the app used last, and everything else below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import ask, question, wait_for_answer
from tests.browser.conftest import barriers_of_looks
from tests.sites.serving import Site

SECOND = "second-start"
SELECT_THE_ANSWER = (
    "document.getSelection().selectAllChildren(document.querySelector('.answer-text p'))"
)
WIDTH = "document.querySelector('.composer').getBoundingClientRect().width"


@pytest.fixture
def two(site: Site) -> None:
    site.manage("import_content")
    site.shell(
        """
        manifest = Application.objects.get(slug="demo").manifest
        Application.objects.get_or_create(
            slug=slug, defaults={"title": "Second start", "is_public": True, "manifest": manifest}
        )
        """,
        slug=SECOND,
    )


@pytest.fixture
def no_application(site: Site, two: None) -> Iterator[None]:
    """Switch all applications off during the test."""
    rows = site.shell(
        """
        result = list(Application.objects.filter(is_enabled=True).values_list("pk", flat=True))
        Application.objects.update(is_enabled=False)
        """
    )
    yield
    site.shell("Application.objects.filter(pk__in=rows).update(is_enabled=True)", rows=rows)


@pytest.mark.usefixtures("no_application")
@pytest.mark.slow("axe reads two pages in a browser")
def test_the_only_app_is_described_and_without_apps_visitors_can_sign_in(page: Page, site: Site):
    page.goto("/")
    expect(page.get_by_role("heading", name="No apps yet")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Sign in")).to_be_visible()
    assert barriers_of_looks(page) == []

    site.shell('Application.objects.filter(slug="demo").update(is_enabled=True)')
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/")
    expect(page.locator(".welcome")).to_contain_text("Shows what an application can do")
    expect(page.get_by_role("heading", name="All apps")).to_have_count(0)
    assert barriers_of_looks(page) == []


@pytest.mark.walkthrough
@pytest.mark.usefixtures("two")
@pytest.mark.slow("uses several pages in a browser")
def test_a_conversation_begins_on_the_first_page_and_another_app_can_be_chosen_for_it(page: Page):
    page.goto("/")
    expect(page.get_by_role("heading", name="What can I help you with?")).to_be_visible()
    expect(page.get_by_role("link", name="Second start", exact=True)).to_be_visible()
    assert barriers_of_looks(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("button", name="App: Demo").press("ArrowDown")
    page.get_by_role("option", name="Second start").press("Enter")
    expect(page).to_have_url(re.compile(rf"/chat/{SECOND}/$"))
    page.goto("/")
    ask(page, "Hello there.")
    wait_for_answer(page)
    expect(page.locator("body")).not_to_have_class(re.compile(r"\bfresh\b"))
    expect(page.get_by_role("link", name="Second start", exact=True)).to_have_count(0)

    page.set_viewport_size({"width": 1280, "height": 900})
    every = page.get_by_role("link", name="All apps")
    for begin in ("from the conversation", "from the top of the page"):
        page.evaluate("scrollTo(0, 0)")
        every.click()
        heading = page.get_by_role("heading", name="All apps")
        expect(heading, begin).to_be_focused()
        expect(heading, begin).to_be_in_viewport()
        expect(every).to_have_attribute("aria-current", "page")
    recent = page.get_by_role("region", name="Pick up where you left off")
    expect(recent.get_by_role("link", name="Hello there.")).to_be_visible()


@pytest.mark.slow("an answer in a browser")
@pytest.mark.usefixtures("two")
def test_selected_words_of_an_answer_are_quoted_or_asked_about(page: Page):
    page.goto("/chat/demo/")
    ask(page, "Hello there.")
    wait_for_answer(page)
    box = question(page)

    page.evaluate(SELECT_THE_ANSWER)
    page.get_by_role("button", name="Quote").click()
    expect(box).to_be_focused()
    quoted = box.input_value()
    page.evaluate(SELECT_THE_ANSWER)
    page.get_by_role("button", name="Ask about this").click()

    assert quoted.startswith("> ")
    expect(box).to_have_value(f"{quoted.rstrip()}\n\n{quoted.rstrip()}\n\nWhat does this mean?")
    expect(page.get_by_role("toolbar", name="Selected text")).to_be_hidden()


@pytest.mark.slow("two pages in a browser")
@pytest.mark.usefixtures("two")
def test_a_wide_layout_makes_conversations_wider(page: Page):
    page.goto("/chat/demo/")
    expect(question(page)).to_be_visible()
    before = page.evaluate(WIDTH)
    page.goto("/settings/")
    page.get_by_role("radio", name="Wide").check()
    expect(page.locator(".toast")).to_contain_text("Saved in this browser.")
    page.goto("/chat/demo/")
    expect(question(page)).to_be_visible()

    assert page.evaluate(WIDTH) > before
