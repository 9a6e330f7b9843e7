"""A call that needs a second person is requested on the page and decided in the admin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chat.test_interactions import CARD, PREPARE, ask
from tests.browser.conftest import barriers, sign_in_as_admin
from tests.peers.upstream import serve_upstream
from tests.sites.fork_server import ROOT
from tests.sites.serving import Site

SLUG = "four-eyes"
LIST = "/admin/runs/run/"
QUESTION = {
    "question": "Where shall it go?",
    "input": "single",
    "options": [{"label": "Riga", "description": "By the sea"}, {"label": "Oslo"}],
    "freeform": True,
}
ASK = """
from uuid import uuid4
from apps.live.models import Interaction, Run
run = Run.objects.create(
    stream=uuid4(), request=uuid4(), application="trips", bucket="session-0", status="waiting"
)
Interaction.objects.create(run=run, key="t:1:0:c", kind="question", asked=card)
"""


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    demo = json.loads((ROOT / "predefined" / "application" / "demo.json").read_text())
    [toolset] = [one for one in demo["manifest"]["tool_sets"] if one["type"] == "rest-api"]
    toolset["approval"] = {"mode": "confirm", "seconds": 3600, "four_eyes": True}
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=SLUG, toolset=toolset)
        site.shell(ASK, card=QUESTION)
        yield f"/chat/{SLUG}/"


@pytest.fixture(autouse=True)
def nobody_else_waits(site: Site, address: str) -> None:
    site.shell("Run.objects.filter(application=slug).update(status='stopped')", slug=SLUG)


@pytest.fixture
def operator_page(browser: Browser, site: Site) -> Iterator[Page]:
    context: BrowserContext = browser.new_context(base_url=site.url)
    page = context.new_page()
    sign_in_as_admin(page, site)
    yield page
    context.close()


@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.slow("uses several pages in a browser")
def test_an_operator_decides_and_the_conversation_says_who(
    page: Page, operator_page: Page, address: str, scheme: Any, width: int
):
    ask(page, address)
    expect(page.locator(CARD)).to_be_visible()
    operator_page.emulate_media(color_scheme=scheme)
    operator_page.set_viewport_size({"width": width, "height": 900})
    operator_page.goto(f"{LIST}?application={SLUG}")
    found = [barriers(operator_page)]
    operator_page.get_by_role("link", name="approval: ").focus()
    operator_page.keyboard.press("Enter")
    expect(operator_page.get_by_role("button", name="Deny")).to_be_visible()
    found.append(barriers(operator_page))
    operator_page.get_by_role("button", name="Approve").focus()
    operator_page.keyboard.press("Enter")
    expect(operator_page.get_by_text("Approved on behalf of")).to_be_visible()

    expect(page.locator(".step-decision")).to_contain_text("Approved by admin")
    expect(page.locator(".answer-foot")).to_be_visible()
    assert found == [[], []]


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_the_card_of_a_question_keeps_nobody_out(operator_page: Page, scheme: Any, width: int):
    operator_page.emulate_media(color_scheme=scheme)
    operator_page.set_viewport_size({"width": width, "height": 900})
    operator_page.goto(f"{LIST}?application=trips")
    operator_page.get_by_role("link", name="question: ").click()
    operator_page.get_by_role("button", name="Answer").click()

    expect(operator_page.get_by_role("alert")).to_contain_text("Choose or write an answer")
    assert barriers(operator_page) == []
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not operator_page.evaluate(wide)


def test_an_operator_stops_a_run_that_waits(page: Page, operator_page: Page, address: str):
    ask(page, address)
    expect(page.locator(CARD)).to_be_visible()
    operator_page.goto(f"{LIST}?application={SLUG}")
    operator_page.locator("input[name=_selected_action]").check()
    operator_page.locator("select[name=action]").select_option(label="Stop selected runs")
    operator_page.get_by_role("button", name="Run").click()

    expect(operator_page.get_by_text("Stopping: 1.")).to_be_visible()
    expect(page.locator(".notice", has_text="Stopped.")).to_be_visible()
