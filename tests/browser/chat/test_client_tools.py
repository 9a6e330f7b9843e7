"""T-33, T-37: the page executes tool calls, on the real site in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import barriers_of_looks, watch
from tests.contract import proves
from tests.peers.upstream import Upstream, serve_upstream
from tests.sites.serving import Site, serve

SLUG = "client-tools"
PREPARE = """
Deployment.objects.create(
    deployment_id="setter", display_name="Setter", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": "setter"},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Client tools",
    is_public=True,
    manifest={"orchestrator": orchestrator, "contexts": [], "tool_sets": toolsets},
)
"""
NO_ARGUMENTS = {"type": "object", "properties": {}}
COUNT = {"name": "shop.count", "description": "Counts.", "parameters": NO_ARGUMENTS}
TOOLSETS = [
    {"type": "predefined", "template_name": "page"},
    {"type": "client", "name": "Shop", "tools": [COUNT, {**COUNT, "name": "shop.nobody"}]},
]
ANSWER = "chat-answer > markdown-text"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with serve_upstream() as served:
        yield served


@pytest.fixture(scope="module")
def address(site: Site, upstream: Upstream) -> str:
    site.shell(PREPARE, url=upstream.url, slug=SLUG, toolsets=TOOLSETS)
    return f"/chat/{SLUG}/"


def call(page: Page, tool: str, arguments: Any = None) -> None:
    question = page.get_by_label("Your question")
    question.fill(f"call {tool} {json.dumps(arguments or {})}")
    question.press("Enter")


@pytest.mark.slow("a walk through several pages in a browser")
@proves("T-33")
def test_the_model_fills_in_a_field_which_the_person_undoes_by_keyboard(page: Page, address: str):
    page.goto(address)
    call(page, "_platform_set_field", {"value": "And in Riga?"})

    question = page.get_by_label("Your question")
    expect(page.locator(ANSWER)).to_contain_text('"And in Riga?"')
    expect(question).to_have_value("And in Riga?")
    expect(page.locator("#set-notice")).to_contain_text("The answer filled in “Your question”.")
    expect(page.locator(".step")).to_contain_text("Filling in a field of the page")
    expect(page.locator(".answer-foot")).to_be_visible()
    assert barriers_of_looks(page) == []

    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(question).to_have_value("")
    expect(question).to_be_focused()
    expect(page.locator("#set-notice")).to_be_hidden()


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_script_of_the_site_brings_a_tool_that_one_of_two_pages_runs_once(
    page: Page, address: str, context: BrowserContext
):
    register = """() => {
        window.counted = 0;
        window.quickapps.tools.register({ name: "shop.count", run: () => (window.counted += 1) });
    }"""
    page.goto(address)
    call(page, "_platform_inspect_page")
    expect(page.locator(".answer-foot")).to_be_visible()
    page.evaluate(register)
    second = context.new_page()
    second.goto(page.url)
    second.evaluate(register)
    expect(second.locator(".answer-foot")).to_be_visible()

    call(page, "shop_count")

    for tab in (second, page):
        expect(tab.locator(ANSWER).last).to_contain_text("It brought 1")
    assert [one.evaluate("() => window.counted") for one in (page, second)] == [1, 0]


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_script_of_another_host_brings_a_tool(
    tmp_path: Path, browser: Browser, upstream: Upstream
):
    script = "quickapps.tools.register({ name: 'shop.count', run: () => 'counted' });"
    address = "https://shop.example.com/tools.js"
    with serve(tmp_path, CHAT_SCRIPTS=address) as own:
        own.shell(PREPARE, url=upstream.url, slug=SLUG, toolsets=TOOLSETS)
        page = browser.new_page(base_url=own.url)
        problems = watch(page)
        page.route(
            address, lambda route: route.fulfill(body=script, content_type="text/javascript")
        )
        page.goto(f"/chat/{SLUG}/")
        call(page, "shop_count")

        expect(page.locator(ANSWER)).to_contain_text("It brought counted")
        page.close()
    assert problems == []
