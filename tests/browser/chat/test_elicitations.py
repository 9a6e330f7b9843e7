"""An MCP server asks the user during a tool call: the real site, server and browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.capabilities.mcp.servers import HERE, over_http, serving_apart
from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

SLUG = "elicitations"
PREPARE = """
Deployment.objects.create(
    deployment_id="booker", display_name="Booker", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": "booker"},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Elicitations",
    is_public=True,
    manifest={"orchestrator": orchestrator, "contexts": [], "tool_sets": [toolset]},
)
"""
CARD = "section.interaction"


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with (
        serve_upstream() as upstream,
        serving_apart("http", str(HERE / "asking.py")) as server,
    ):
        site.shell(PREPARE, url=upstream.url, slug=SLUG, toolset=over_http(server))
        yield f"/chat/{SLUG}/"


def ask(page: Page, address: str, tool: str) -> None:
    page.goto(address)
    question = page.get_by_label("Your question")
    question.fill(f"call desk_{tool}")
    question.press("Enter")


def test_a_form_is_answered_by_keyboard_after_a_reload(page: Page, address: str):
    ask(page, address, "book")
    card = page.locator(CARD)
    expect(card).to_be_focused()
    page.reload()
    expect(card).to_be_focused()
    expect(card.get_by_role("timer")).to_contain_text("left")
    assert barriers(page) == []

    page.keyboard.press("Tab")
    page.keyboard.type("Ann")
    page.keyboard.press("Tab")
    page.keyboard.type("Second")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator(".decision")).to_contain_text("Answered by you")
    answer = (
        '["accept", {"name": "Ann", "class": "b", "bags": 2, "window": true, "meals": ["rice"]}]'
    )
    expect(page.locator("chat-answer > markdown-text")).to_contain_text(answer)
    assert barriers(page) == []
