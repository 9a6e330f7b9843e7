"""The page "What is remembered about you", and the line under an answer that used memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, open_more, sign_in_as_admin
from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

SLUG = "remembering"
PREPARE = """
Deployment.objects.create(
    deployment_id=slug, display_name="Rememberer", base_url=url, model_name="m", api_key="k"
)
orchestrator = {
    "deployment": {"deployment_id": slug},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Travel desk",
    is_public=True,
    manifest={
        "orchestrator": orchestrator,
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None, "memory": {"enabled": True}},
    },
)
"""
REMEMBER = """
from django.contrib.auth.models import User
from django.utils import timezone
from apps.workspace.local.models import MemoryCollection, MemoryMerge, StoredMemory

bucket = f"user-{User.objects.get(username='admin').pk}"
MemoryCollection.objects.filter(bucket=bucket).delete()
row = MemoryCollection.objects.create(bucket=bucket, application=slug, model="none")
for number, content in enumerate(contents):
    StoredMemory.objects.create(
        collection=row,
        number=1_760_000_000 + number,
        content=content,
        importance=0.5 + number / 10,
        category="preferences",
        topics=["home", "travel"],
        vector=bytes(16),
    )
originals = [{"data": {"id": n, "content": text}} for n, text in enumerate(contents)]
MemoryMerge.objects.create(
    collection=row, number=1, survivor=1_760_000_000, merged_at=timezone.now(), originals=originals
)
"""
CONTENTS = ["Lives in Riga, near the river", "Does not like coffee"]
LONG = "A" * 300 + " and " + "many words " * 100


@pytest.fixture(scope="module", autouse=True)
def application(site: Site) -> Iterator[None]:
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=SLUG)
        yield


def remember(site: Site, *contents: str) -> None:
    site.shell(REMEMBER, slug=SLUG, contents=contents)


def press_on(page: Page, name: str, role: Any = "button") -> None:
    """Use a control with the keyboard only."""
    page.get_by_role(role, name=name).focus()
    page.keyboard.press("Enter")


@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
@pytest.mark.slow("uses several pages in a browser")
def test_memories_are_read_changed_and_deleted_by_keyboard(
    page: Page, site: Site, scheme: Any, width: int
):
    remember(site, *CONTENTS, LONG)
    sign_in_as_admin(page, site)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/memory/")
    texts = page.locator(".memory-text")
    expect(texts).to_have_count(3)
    page.locator(".memory-merges > summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo the merge")).to_be_visible()
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.get_by_label("Search memories").fill("RIGA")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 memory found")
    press_on(page, "Edit “Lives in Riga", "link")
    page.get_by_label("Importance").fill("7")
    assert barriers(page) == []
    page.get_by_label("Importance").fill("0.9")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Memory updated.")
    expect(page.get_by_role("main")).not_to_contain_text("0.9")
    press_on(page, "Forget “Does not like")
    expect(page.get_by_role("status")).to_have_text("Memory forgotten.")
    expect(texts).to_have_count(2)

    press_on(page, "Delete everything…", "link")
    expect(page.get_by_role("heading", name="Delete all memories?")).to_be_visible()
    assert barriers(page) == []
    press_on(page, "Delete")
    expect(page.get_by_role("heading", name="No memories yet")).to_be_visible()
    assert barriers(page) == []


def test_settings_are_kept(page: Page, site: Site):
    sign_in_as_admin(page, site)
    page.goto("/memory/")
    page.get_by_label("Share memories between apps").focus()
    page.keyboard.press("Space")

    expect(page.locator(".toast")).to_contain_text("Saved. Changes apply from your next message.")
    page.reload()
    expect(page.get_by_label("Share memories between apps")).to_be_checked()
    page.get_by_label("Share memories between apps").uncheck()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    page.reload()
    expect(page.get_by_label("Share memories between apps")).not_to_be_checked()


@pytest.mark.slow("uses several pages in a browser")
def test_an_answer_says_which_memories_it_used_also_after_a_reload(page: Page, site: Site):
    remember(site, *CONTENTS)
    sign_in_as_admin(page, site)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"/chat/{SLUG}/")
    question = page.get_by_label("Your question")
    question.fill('call search_memories {"query": ""}')
    question.press("Enter")
    line = page.locator(".memory-line")
    expect(line.locator("summary")).to_have_text("Memory: recalled 2")
    page.reload()

    line.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(line.get_by_role("listitem")).to_have_text(
        ["Recalled Does not like coffee", "Recalled Lives in Riga, near the river"]
    )
    assert barriers(page) == []
    line.get_by_role("link", name="Your memories").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Memory")


@pytest.mark.slow("uses several pages in a browser")
def test_a_conversation_can_have_no_memory_from_its_beginning(page: Page, site: Site):
    remember(site, *CONTENTS)
    sign_in_as_admin(page, site)
    page.goto(f"/chat/{SLUG}/")
    open_more(page)
    switch = page.get_by_role("switch", name="Memory")
    expect(switch).to_be_checked()
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(page.locator("#memory-notice")).to_contain_text("Memory is off for this conversation")
    assert barriers(page) == []
    question = page.get_by_label("Your question")
    question.fill('call search_memories {"query": ""}')
    question.press("Enter")

    expect(page.locator("chat-answer .answer-foot")).to_be_visible()
    expect(page.locator(".memory-line")).to_have_count(0)
    page.reload()
    open_more(page)
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    question.fill('call search_memories {"query": ""}')
    question.press("Enter")
    expect(page.locator(".memory-line summary")).to_have_text("Memory: recalled 2")
