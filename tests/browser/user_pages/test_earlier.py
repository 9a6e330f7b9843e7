"""Links to earlier conversations in an answer: the real site, a real search, a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in_as_admin
from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

SLUG = "searching"
PREPARE = """
Deployment.objects.create(
    deployment_id=slug, display_name="Searcher", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": slug},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
features = {"timestamp": None, "search_conversations": {"enabled": True}}
manifest = {"orchestrator": orchestrator, "contexts": [], "tool_sets": [], "features": features}
Application.objects.create(slug=slug, title="Searcher", is_public=True, manifest=manifest)
"""


@pytest.fixture(scope="module", autouse=True)
def application(site: Site) -> Iterator[None]:
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=SLUG)
        yield


def ask(page: Page, text: str) -> None:
    page.goto(f"/chat/{SLUG}/")
    question = page.get_by_label("Your question")
    question.fill(text)
    question.press("Enter")
    expect(page.locator("chat-answer .answer-foot")).to_be_visible()


def test_an_answer_leads_to_what_was_said_earlier(page: Page, site: Site):
    sign_in_as_admin(page, site)
    ask(page, "The hotel in Riga")
    earlier = page.url
    ask(page, 'call internal_search_conversations {"query": "riga"}')

    with page.context.expect_page() as opened:
        page.locator("chat-answer").get_by_role("link", name="The hotel in Riga").click()

    assert opened.value.url == earlier
    expect(opened.value.locator("chat-answer > markdown-text")).to_contain_text("The hotel in Riga")
