"""The context gauge next to the message box, and the summary in the conversation."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, barriers_of_schemes
from tests.contract import proves
from tests.sites.serving import Site

SLUG = "brief"
PREPARE = """
# The demo model writes summaries word by word: as many as a summary may have are enough.
Deployment.objects.create(
    deployment_id=slug,
    display_name="Brief",
    provider="demo",
    context_window=1500,
    parameters={"max_tokens": 200},
)
Application.objects.create(
    slug=slug,
    title="Brief",
    is_public=True,
    manifest={
        "orchestrator": {"deployment": {"deployment_id": slug}},
        "contexts": [],
        "tool_sets": [],
        "features": None,
    },
)
"""
LONG = "Tell me about rivers and lakes. " * 30


@pytest.fixture(scope="module", autouse=True)
def application(site: Site) -> None:
    site.shell(PREPARE, slug=SLUG)


def ask(page: Page, text: str, answers: int) -> None:
    page.get_by_label("Your question").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-foot")).to_have_count(answers)


@pytest.mark.slow("a walk through several pages in a browser")
@proves("D-31")
def test_the_gauge_opens_to_its_parts_above_the_message_box_and_closes_lightly(page: Page):
    page.goto(f"/chat/{SLUG}/")
    expect(page.locator(".gauge")).to_have_count(0)
    ask(page, "Hello", 1)
    gauge = page.locator(".gauge")
    expect(gauge).to_have_attribute("data-state", "ok")
    expect(gauge.get_by_role("button")).to_contain_text("Context:")

    gauge.get_by_role("button").focus()
    page.keyboard.press("Enter")

    expect(gauge.get_by_text("Context window")).to_be_visible()
    expect(gauge.get_by_text("1,500")).to_be_visible()
    assert barriers(page) == []
    parts, composer = (page.locator(one).bounding_box() for one in (".gauge-parts", ".composer"))
    assert parts
    assert composer
    assert parts["y"] + parts["height"] <= composer["y"]

    page.keyboard.press("Escape")

    expect(gauge.get_by_text("Context window")).to_be_hidden()
    expect(gauge.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(".question").click()
    expect(gauge.get_by_text("Context window")).to_be_hidden()


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_long_conversation_is_warned_of_then_summarised_and_stays_whole(page: Page):
    page.goto(f"/chat/{SLUG}/")
    for number in range(1, 5):
        ask(page, f"{number} {LONG}", number)
    block = page.locator(".summary-block")
    expect(block).to_have_count(1)
    expect(page.locator(".gauge")).to_be_visible()

    block.locator("summary").click()

    expect(
        block.get_by_text("The model reads this summary instead of everything above")
    ).to_be_visible()
    expect(page.locator(".question")).to_have_count(4)
    assert barriers(page) == []
    page.reload()
    expect(page.locator(".summary-block")).to_have_count(1)


@pytest.mark.slow("a walk through several pages in a browser")
@proves("D-31")
def test_a_window_that_is_nearly_full_is_told_in_words_and_colour(page: Page):
    use = {"system": 100, "tools": 200, "user": 300, "assistant": 400, "tool_results": 200}
    told: dict[str, Any] = {**use, "total": 1200, "limit": 1300, "summary": None}
    page.set_viewport_size({"width": 360, "height": 740})
    page.route("**/usage/", lambda route: route.fulfill(json=told))
    page.goto(f"/chat/{SLUG}/")
    rounds = ((0.9, "warning", "nearly full"), (0.97, "danger", "full"))
    for number, (ratio, state, words) in enumerate(rounds, start=1):
        told |= {"ratio": ratio, "state": state}
        ask(page, "Hello", number)

        gauge = page.locator(".gauge")
        expect(gauge).to_have_attribute("data-state", state)
        expect(gauge.get_by_role("button")).to_contain_text(words)
        if number == 1:
            gauge.get_by_role("button").click()
        assert barriers_of_schemes(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
