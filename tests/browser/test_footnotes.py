"""Citations of documents on the page: numbers that open the document, and the list of sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.browser.scripted import ScriptedSocket
from tests.browser.serving import Site
from tests.browser.test_demo import question, wait_for_answer
from tests.documents.samples import pdf

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
    shown = page.request.get((mark.get_attribute("href") or "").partition("#")[0])
    assert shown.headers["content-type"] == "application/pdf"
    assert shown.headers["content-disposition"].startswith("inline")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_only_numbers_with_a_source_are_links_and_a_keyboard_reaches_them(
    page: Page, address: str, scheme
) -> None:
    socket = ScriptedSocket()
    socket.serve(page)
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    question(page).fill("Cite")
    question(page).press("Enter")
    expect(page.get_by_text("Sending…")).to_have_count(0)

    socket.write(
        "It is so [1", "][3], not so [2]: `a[1]` $x[1]$ [see [1]](https://example.org/)\n\n"
    )
    socket.write("```python\nprint(a[1])\n```\n\nRaised<sup>[3]</sup> and [4].")
    cited = [
        cite("[3] notes.txt", "<b>Bold</b>", None),
        cite("[1] rules.pdf, page 3", "It is so.", "files/user-7/rules.pdf#page=3"),
        cite("[4] far.pdf, page 9", "Far away.", "https://example.org/far.pdf#page=9"),
        cite("[5] evil.pdf", "Evil.", "javascript:alert(1)"),
    ]
    others = [
        {"type": "text/plain", "title": "Log", "data": "[1] a line"},
        cite("[2] whole.txt", "This is no sentence. " * 40, None),
    ]
    for attachment in (*cited, *others):
        socket.say(type="attachment.added", attachment=attachment)
    socket.end(attachments=[*cited, *others])

    wait_for_answer(page)
    answer = page.locator("chat-answer")
    expect(answer.locator(".citation")).to_have_text(["1", "3", "3", "4"])
    expect(answer.locator("markdown-text p").first).to_contain_text("It is so 13, not so [2]: a[1]")
    expect(answer.locator("sup sup")).to_have_count(0)
    expect(answer.locator("markdown-text pre")).to_have_text("print(a[1])\n")
    answer.locator(".citation").nth(1).hover()
    expect(page.get_by_role("tooltip").locator("p")).to_have_text(["notes.txt", "“<b>Bold</b>”"])
    assert answer.locator(".sources li").all_inner_texts() == [
        "1\nrules.pdf, page 3 It is so.",
        "3\nnotes.txt <b>Bold</b>",
        "4\nfar.pdf, page 9 (example.org) Far away.",
        "5\nevil.pdf Evil.",
    ]
    expect(answer.locator(".sources a")).to_have_count(2)
    expect(answer.locator(".attachment summary")).to_have_text(["Log", "[2] whole.txt"])
    assert barriers(page) == []

    first = answer.get_by_role("link", name="Source 1: rules.pdf, page 3")
    first.focus()
    page.keyboard.press("Tab")
    expect(answer.get_by_role("link", name="see [1]")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    with page.context.expect_page() as opened:
        page.keyboard.press("Enter")
    expect(opened.value).to_have_url(re.compile(r"/files/user-7/rules\.pdf#page=3$"))


def cite(title: str, sentence: str, address: str | None) -> dict[str, str]:
    attachment = {"type": "text/plain", "title": title, "data": sentence}
    return attachment if address is None else {**attachment, "reference_url": address}
