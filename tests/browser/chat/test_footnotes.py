"""Document citations on the page: numbers that open the document, and the list of sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers
from tests.documents.samples import pdf
from tests.sites.serving import Site

SLUG = "footnotes"
ADDRESS = f"/chat/{SLUG}/"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo-model"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
    "features": {"documents": {"enabled": True}},
}
RULES = pdf("Breakfast is served from seven to ten.", "A late check-out costs 20 euros.")


@pytest.fixture(scope="module")
def address(site: Site) -> str:
    site.manage("import_content")
    site.shell(
        """
        Application.objects.create(
            slug=slug, title="Footnotes", is_public=True, manifest=manifest
        )
        """,
        slug=SLUG,
        manifest=MANIFEST,
    )
    return ADDRESS


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_number_in_an_answer_opens_the_document_at_its_page_also_after_a_reload(
    page: Page, address: str, tmp_path: Path
) -> None:
    (tmp_path / "rules.pdf").write_bytes(RULES)
    page.goto(address)
    page.locator("#files-to-send").set_input_files(tmp_path / "rules.pdf")
    expect(page.locator(".chip[data-state=done]")).to_have_count(1)
    question(page).fill("What does a late check-out cost?")
    question(page).press("Enter")

    mark = page.locator(".answer-text sup").get_by_role("link", name=re.compile("page 2")).first
    place = re.compile(r"/files/session-\w+/conversations/[\w-]{36}/rules\.pdf#page=2$")
    for _ in ("live", "after a reload"):
        wait_for_answer(page)
        expect(mark).to_have_attribute("href", place)
        mark.focus()
        expect(page.get_by_role("tooltip").locator("p")).to_have_text(
            ["rules.pdf, page 2", "“A late check-out costs 20 euros.”"]
        )
        entry = page.locator(".sources li", has_text="page 2")
        expect(entry.locator("q")).to_have_text("A late check-out costs 20 euros.")
        expect(entry.get_by_role("link")).to_have_attribute("href", place)
        expect(page.locator("chat-answer .attachment")).to_have_count(0)
        page.reload()
    assert barriers(page) == []
    expect(mark).to_have_attribute("target", "_blank")
    shown = page.request.get((mark.get_attribute("href") or "").partition("#")[0])
    assert shown.headers["content-type"] == "application/pdf"
    assert shown.headers["content-disposition"].startswith("inline")
