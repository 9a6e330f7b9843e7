"""The chat page in forced colors, where browsers drop backgrounds and shadows."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers, open_account
from tests.sites.serving import Site

CREATE = """
from apps.catalog.models import Application
manifest = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug="contrast", title="Contrast", is_public=True, manifest=manifest)
"""
COLORS = """async () => {
  const { colorsOfPage } = await import("/static/chat/scripts/code/colors.js");
  return [colorsOfPage(), colorsOfPage("light")];
}"""
STYLE = """(one, [name, part]) => getComputedStyle(one, part || null)[name]"""


def style(page: Page, selector: str, name: str, part: str = "") -> str:
    return str(page.locator(selector).first.evaluate(STYLE, [name, part]))


@pytest.mark.slow("uses several pages in a browser")
def test_switches_bubbles_and_selected_states_stay_visible(
    site: Site, demo_model: None, page: Page
) -> None:
    site.shell(CREATE)
    page.emulate_media(forced_colors="active")
    page.goto("/chat/contrast/")
    switch = page.get_by_role("switch", name="Temporary")
    track = ".switch:has-text('Temporary') .switch-track"
    off = style(page, track, "backgroundColor")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    on = style(page, track, "backgroundColor")
    knob = style(page, track, "backgroundColor", "::after")
    switch.click()
    question(page).fill("Hello")
    question(page).press("Enter")
    wait_for_answer(page)
    page.get_by_role("button", name="Good answer").click()
    page.keyboard.press("Escape")

    assert off != on != knob
    assert style(page, ".question-text", "borderTopWidth") == "1px"
    assert style(page, ".history-entry [aria-current]", "outlineStyle") == "solid"
    open_account(page)
    assert style(page, ".theme-switch label:has(:checked)", "borderTopWidth") == "2px"
    page.keyboard.press("Escape")
    page.locator("body").click()
    assert style(page, ".thumb[aria-pressed=true]", "outlineStyle") == "solid"
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [aria-selected=true]")).to_have_count(1)
    assert style(page, "#palette [aria-selected=true]", "outlineStyle") == "solid"
    assert barriers(page) == []


@pytest.mark.parametrize(
    ("scheme", "canvas", "ink"), [("light", "#ffffff", "#000000"), ("dark", "#000000", "#ffffff")]
)
def test_diagrams_have_the_forced_colors_but_not_on_paper(
    site: Site, page: Page, scheme: Literal["light", "dark"], canvas: str, ink: str
) -> None:
    page.emulate_media(forced_colors="active", color_scheme=scheme)
    page.goto("/")

    shown, on_paper = page.evaluate(COLORS)

    assert (shown["accent-soft"], shown["accent"], shown["ink"]) == (canvas, ink, ink)
    assert len({canvas, ink, *shown["series"]}) == 7
    assert len({on_paper["accent-soft"], on_paper["accent"], on_paper["ink"]}) == 3
