"""Reasoning and refusals of a model on the page: a real service, the real site, a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

SLUG = "thinking"
PREPARE = """
Deployment.objects.create(
    deployment_id="thinker", display_name="Thinker", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": "thinker"},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Thinking",
    is_public=True,
    manifest={"orchestrator": orchestrator, "contexts": [], "tool_sets": []},
)
"""


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=SLUG)
        yield f"/chat/{SLUG}/"


def ask(page: Page, text: str) -> None:
    question = page.get_by_label("Your question")
    question.fill(text)
    question.press("Enter")
    expect(page.locator("chat-answer .answer-foot")).to_be_visible()


def test_what_a_model_thinks_is_a_step_with_its_time_live_and_after_a_reload(
    page: Page, address: str
):
    page.goto(address)
    ask(page, "think reasoning one two")

    for _ in ("live", "after a reload"):
        answer = page.locator("chat-answer")
        expect(answer.locator(".step-title")).to_have_text(
            re.compile(r"^Thought for (a moment|[\d.]+ s)$")
        )
        expect(answer.locator("> markdown-text")).to_have_text("one two")
        answer.locator(".steps summary").click()
        expect(answer.locator(".step-content")).to_have_text("Let me see.")
        page.reload()
        expect(answer.locator(".answer-foot")).to_be_visible()


def test_a_refusal_reads_as_the_answer(page: Page, address: str):
    page.goto(address)

    ask(page, "refuse")

    expect(page.locator("chat-answer > markdown-text")).to_have_text("I may not.")
