"""A tool that fails while the answer goes on: a real MCP server, the real site, a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.browser.serving import Site
from tests.capabilities.mcp.servers import over_http, serving_apart
from tests.peers.upstream import serve_upstream

SLUG = "failing-tools"
PREPARE = """
Deployment.objects.create(
    deployment_id="caller", display_name="Caller", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": "caller"},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Failing tools",
    is_public=True,
    manifest={"orchestrator": orchestrator, "contexts": [], "tool_sets": [toolset]},
)
"""


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with serve_upstream() as upstream, serving_apart("http") as url:
        site.shell(PREPARE, url=upstream.url, slug=SLUG, toolset=over_http(url))
        yield f"/chat/{SLUG}/"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_tool_that_failed_is_marked_live_and_after_a_reload_though_the_answer_goes_on(
    page: Page, address: str, scheme, width
):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    question = page.get_by_label("Your question")
    question.fill("call desk_fail")
    question.press("Enter")
    answer = page.locator("chat-answer")
    expect(answer.locator(".answer-foot")).to_be_visible()

    for _ in ("live", "after a reload"):
        expect(answer.locator("> markdown-text")).to_contain_text("no luck today")
        expect(answer.locator(".step-title")).to_have_text("desk · fail")
        expect(answer.locator(".step-state")).to_have_text("Failed")
        expect(answer.locator(".step[data-state=failed] .step-state")).to_be_visible()
        answer.locator(".steps summary").click()
        expect(answer.locator(".step-content")).to_contain_text("no luck today")
        assert barriers(page) == []
        page.reload()
        expect(answer.locator(".answer-foot")).to_be_visible()
