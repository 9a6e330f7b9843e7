"""An agent writes a note, the user approves and undoes it, and edits notes with the keyboard only."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, sign_in_as_admin
from tests.contract import proves
from tests.sites.serving import Site

SLUG = "notekeeper"
PREPARE = """
orchestrator = {
    "deployment": {"deployment_id": "demo-model"},
    "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
}
Application.objects.create(
    slug=slug,
    title="Note keeper",
    is_public=True,
    manifest={
        "orchestrator": orchestrator,
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None, "notes": {"enabled": True}},
    },
)
"""
FORGET = """
from apps.notes.models import Note
Note.objects.all().delete()
"""
ELSEWHERE = """
from apps.notes import store
from apps.notes.content import note_content
from apps.notes.models import Note
from dataclasses import replace

note = Note.objects.get(title=title)
store.change(note, replace(note_content(note), text=text), store.Author(None))
"""


@pytest.fixture(scope="module", autouse=True)
def application(site: Site, demo_model: None) -> None:
    site.shell(PREPARE, slug=SLUG)


def press_on(page: Page, name: str, role: Any = "button", *, exact: bool = False) -> None:
    """Use a control with the keyboard only."""
    page.get_by_role(role, name=name, exact=exact).first.focus()
    page.keyboard.press("Enter")


def write(page: Page, title: str, text: str, tags: str = "") -> None:
    page.goto("/notes/new/")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Text").fill(text)
    page.get_by_label("Tags").fill(tags)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_have_text("Saved.")


@proves("D-47")
@pytest.mark.slow("uses several pages in a browser")
def test_what_an_agent_writes_is_approved_marked_linked_and_undone(page: Page, site: Site):
    site.shell(FORGET)
    sign_in_as_admin(page, site)
    page.goto(f"/chat/{SLUG}/")
    question = page.get_by_label("Your question")
    question.fill("Write a note Boats: We have two boats, see [[Boats]] and [[Harbour]].")
    question.press("Enter")
    card = page.locator("section.interaction")
    expect(card).to_contain_text("Boats")
    card.get_by_role("button", name="Approve").click()
    expect(page.locator("chat-answer .answer-text").last).to_contain_text("was added")

    question.fill("Find my notes about boats")
    question.press("Enter")
    link = page.locator("chat-answer a.note-link").last
    expect(link).to_have_text("Boats")
    expect(page.locator("chat-answer").last).to_contain_text("[[Harbour]]")
    link.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Boats")
    agent = page.get_by_role("region", name="Changed by an agent")
    expect(agent).to_contain_text("On behalf of admin")
    expect(page.locator(".note-text a.note-link.missing")).to_contain_text("Harbour")
    assert barriers(page) == []
    press_on(page, "Undo")
    expect(page.get_by_role("status").first).to_have_text(
        "Undone. You’ll find “Boats” under “Deleted”."
    )
    page.goto("/notes/?show=deleted")
    expect(page.get_by_role("main")).to_contain_text("Boats")
    assert barriers(page) == []


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_notes_are_kept_by_keyboard(page: Page, site: Site, scheme: Any, width: int):
    site.shell(FORGET)
    sign_in_as_admin(page, site)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/notes/")
    expect(page.get_by_role("heading", name="No notes yet")).to_be_visible()
    assert barriers(page) == []
    write(page, "Plan", "# Trip\n\nTo [[the town|Riga]], **soon**.\n\n`[[code]]`", "sea")
    expect(page.locator(".note-text h3")).to_have_text("Trip")
    missing = page.locator("a.note-link.missing")
    expect(missing).to_contain_text("the town")
    missing.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Riga")
    assert barriers(page) == []
    page.get_by_label("Text").fill("A town.")
    press_on(page, "Save")
    press_on(page, "Plan", "link")  # among the backlinks
    expect(page.locator("a.note-link:not(.missing)")).to_have_text("the town")
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    press_on(page, "Edit", "link")
    page.get_by_label("Text").fill("Mine")
    site.shell(ELSEWHERE, title="Plan", text="Theirs")
    press_on(page, "Save")
    expect(page.get_by_role("alert")).to_contain_text("changed this note while you were editing it")
    expect(page.get_by_role("region", name="Differences")).to_contain_text("Theirs")
    expect(page.get_by_label("Text")).to_have_value("Mine")
    assert barriers(page) == []
    press_on(page, "Save")
    expect(page.locator(".note-text")).to_have_text("Mine")

    press_on(page, "History", "link")
    expect(page.get_by_role("heading", level=1)).to_have_text("History: Plan")
    assert barriers(page) == []
    press_on(page, "Restore version 2")
    expect(page.locator(".note-text")).to_have_text("Theirs")
    page.get_by_role("main").get_by_role("link", name="Note keeper").press("Enter")
    expect(page.get_by_label("Your question")).to_have_value(
        "About the note [[Plan]]:\n\n> Theirs\n\n"
    )
    page.goto("/notes/")
    page.get_by_label("Search in notes").fill("tag:sea -riga")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_have_text("1 note found")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
