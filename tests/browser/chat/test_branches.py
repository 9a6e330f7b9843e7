"""Branches of a conversation on the real server, in two tabs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site

CONVERSATION = re.compile(r"/chat/demo/[0-9a-f-]{36}/$")
ANSWERED_WITHIN = 60_000


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


def ask(page: Page, text: str, answers: int) -> None:
    page.get_by_label("Your question").fill(text)
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".answer-foot")).to_have_count(answers, timeout=ANSWERED_WITHIN)


def press(turn: Locator, name: str) -> None:
    turn.hover()
    turn.get_by_role("button", name=name, exact=True).click()


def questions(page: Page) -> Locator:
    return page.locator(".question-text")


def places(page: Page) -> Locator:
    return page.locator(".actions-place")


@pytest.mark.slow("a walk through several pages in a browser")
def test_branches_are_begun_and_shown_in_all_tabs(page: Page, context: BrowserContext) -> None:
    page.goto("/chat/demo/")
    ask(page, "Hello", 1)
    ask(page, "And then?", 2)
    expect(page).to_have_url(CONVERSATION)
    other = context.new_page()
    problems = watch(other)
    other.goto(page.url)
    expect(questions(other)).to_have_text(["Hello", "And then?"])

    press(page.locator("chat-answer").first, "Answer again")
    expect(page.get_by_label("Your question")).to_be_focused()
    for tab in (page, other):
        expect(places(tab)).to_have_text(["2/2"], timeout=ANSWERED_WITHIN)
        expect(questions(tab)).to_have_text(["Hello"])
        expect(tab.locator(".answer-foot")).to_have_count(1, timeout=ANSWERED_WITHIN)

    press(other.locator("chat-answer").first, "Previous answer")
    for tab in (page, other):
        expect(places(tab)).to_have_text(["1/2"])
        expect(questions(tab)).to_have_text(["Hello", "And then?"])
    expect(other.get_by_role("button", name="Previous answer")).to_be_focused()
    other.keyboard.press("ArrowRight")
    expect(other.get_by_role("button", name="Next answer")).to_be_focused()

    press(page.locator("chat-question").nth(1), "Edit the question")
    expect(page.get_by_role("textbox", name="Edit the question")).to_be_focused()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    page.keyboard.press("Escape")
    edit = page.locator("chat-question").nth(1).get_by_role("button", name="Edit the question")
    expect(edit).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Edit the question").fill("And now?")
    page.keyboard.press("Control+Enter")
    for tab in (page, other):
        expect(questions(tab)).to_have_text(["Hello", "And now?"])
        expect(places(tab)).to_have_text(["1/2", "2/2"], timeout=ANSWERED_WITHIN)
    expect(page.locator(".answer-foot")).to_have_count(2, timeout=ANSWERED_WITHIN)

    page.set_viewport_size({"width": 340, "height": 700})
    press(page.locator("chat-question").first, "Delete question and answer")
    expect(page.get_by_role("dialog", name="Delete this question?")).to_be_visible()
    assert barriers(page) == []
    page.keyboard.press("Escape")

    page.reload()
    expect(questions(page)).to_have_text(["Hello", "And now?"])
    expect(places(page)).to_have_text(["1/2", "2/2"])
    assert problems == []


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_message_that_is_found_on_another_branch_is_shown(page: Page) -> None:
    page.goto("/chat/demo/")
    ask(page, "Hello zebra", 1)
    press(page.locator("chat-question").first, "Edit the question")
    page.get_by_label("Edit the question").fill("Hello okapi")
    page.locator(".question-editor").get_by_role("button", name="Send").click()
    expect(questions(page)).to_have_text(["Hello okapi"])
    expect(page.locator(".answer-foot")).to_have_count(1, timeout=ANSWERED_WITHIN)

    page.get_by_label("Search conversations").fill("zebra")
    page.get_by_role("list", name="Search results").get_by_role("link").click()

    expect(page.locator(".question:focus")).to_contain_text("Hello zebra")
    expect(places(page).first).to_have_text("1/2")
    expect(page).to_have_url(CONVERSATION)
