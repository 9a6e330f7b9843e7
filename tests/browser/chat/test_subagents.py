"""Sub-agents and the to-do list on the page: running, opened, stopped, ticked, and after a reload."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import barriers
from tests.contract import proves
from tests.sites.serving import Site

ADDRESS = "/chat/helpers/"
TWO = "Let helpers work: tell me a long story; what is the weather in Oslo?"
TASKS = ["tell me a long story", "what is the weather in Oslo?"]


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


def ask(page: Page, text: str) -> None:
    page.get_by_label("Your question").fill(text)
    page.get_by_label("Your question").press("Enter")


def subagent(page: Page, name: str) -> Locator:
    return page.locator("chat-answer .step").filter(has_text=name).first


def done_items(page: Page) -> list[str]:
    return page.locator(".todo-item[data-done=true] .todo-text").all_inner_texts()


@pytest.mark.slow("a walk through several pages in a browser")
@proves("D-24")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_one_of_two_subagents_is_read_and_stopped_while_the_other_answers_and_the_list_is_ticked(
    page: Page, scheme: Any, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(ADDRESS)

    ask(page, TWO)

    story, weather = (subagent(page, name) for name in TASKS)
    expect(weather.get_by_text("Done", exact=True).first).to_be_attached()
    expect(
        story.get_by_role("button", name="Stop the sub-agent tell me a long story")
    ).to_be_visible()
    expect(page.locator(".todo-count")).to_have_text("0 of 3 done")

    story.get_by_role("button", name="Open the sub-agent").click()
    dialog = page.get_by_role("dialog", name=TASKS[0])
    expect(dialog.get_by_role("status")).to_have_text("Researcher · Working")
    expect(dialog).to_contain_text(re.compile(r"Response:\s+\w+ \w+"))
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog.get_by_role("status")).to_have_text("Researcher · Stopped")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)

    expect(page.locator("chat-answer .answer-foot")).to_be_visible()
    expect(page.locator(".todo-count")).to_have_text("2 of 3 done")
    if width < 700:  # there, it is one line until it is opened
        page.locator(".todo > summary").click()
    assert done_items(page) == [TASKS[1], "Report what the sub-agents found"]
    assert barriers(page) == []

    page.reload()
    expect(page.locator(".todo-count")).to_have_text("2 of 3 done")
    expect(page.get_by_role("button", name="Open the sub-agent")).to_have_count(2)
    expect(page.get_by_role("button", name="Stop the sub-agent")).to_have_count(0)
