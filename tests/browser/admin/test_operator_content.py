"""A new operator changes a prompt, fixes a toolset, writes a skill, and the demo uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.admin.publishing import publish_content
from tests.browser.conftest import barriers
from tests.contract import proves
from tests.sites.serving import Site

CONTENT = "/admin/catalog/contentitem/"
SKILL = """---
name: harbour-letters
description: How we write to ships. Read it before you write a letter to one.
---
Begin with the name of the ship. An example lies in `letters/welcome.md`.
"""
LETTER = "Dear Aurora,\nberth 7 is yours.\n"
ANSWERED_WITHIN = 60_000


@pytest.fixture
def own_rows(site: Site) -> Iterator[None]:
    """Delete the operator's rows for the other tests of the site."""
    yield
    site.shell(
        "from apps.catalog.content.models import ContentItem\nContentItem.objects.all().delete()"
    )


def open_item(page: Page, kind: str, name: str) -> None:
    """Open an item from the list."""
    page.get_by_role("link", name="Predefined content").first.click()
    page.get_by_role("searchbox").fill(name)
    page.keyboard.press("Enter")
    page.locator("summary", has_text="Kind").click()
    page.locator(".console-choice a", has_text=re.compile(f"^{kind}$", re.IGNORECASE)).click()
    page.get_by_role("row").filter(has_text=name).get_by_role("link").first.click()


def save(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()


@pytest.mark.slow("a walk through several pages in a browser")
@proves("m4.2")
@pytest.mark.usefixtures("own_rows")
def test_content_is_changed_mended_reset_and_a_skill_is_put_to_use(site: Site, admin_page: Page):
    site.manage("import_content")
    page = admin_page
    page.goto("/admin/")

    change_a_prompt(page)
    break_and_reset_a_toolset(page)
    write_a_skill(page)
    publish_content(page, "Demo", "Letters of the harbour")
    watch_the_demo_read_it(page)


def change_a_prompt(page: Page) -> None:
    open_item(page, "prompt", "gemini_prompt")
    page.get_by_role("link", name="Override").click()
    text = page.get_by_label("Text*")
    text.fill(f"{text.input_value()}\nCount in tonnes, today ({{today}}) and always.\n")
    save(page)
    expect(page.locator("ins")).to_contain_text(
        ["added: + Count in tonnes, today ({today}) and always."]
    )
    expect(page.get_by_label("Instructions for the model")).to_contain_text(
        "Count in tonnes, today (2"
    )
    expect(page.get_by_text("active")).to_have_count(1)
    assert barriers(page) == []


def break_and_reset_a_toolset(page: Page) -> None:
    open_item(page, "toolset", "location")
    page.get_by_role("link", name="Override").click()
    text = page.get_by_label("Text*")
    good = text.input_value()
    text.fill(good.replace('"template_name": "location"', '"template_name": "locaton"'))
    save(page)
    expect(
        page.get_by_text("There is no predefined tool 'locaton'; did you mean 'location'?")
    ).to_be_visible()
    assert "locaton" in text.input_value()
    assert barriers(page) == []

    text.fill(good.replace('"name": "Location"', '"name": "Charts"'))
    save(page)
    expect(page.locator("del")).to_contain_text('"name": "Location"')
    page.get_by_role("link", name="Reset").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("link", name="Override")).to_be_visible()
    expect(page.get_by_label("Toolset of the kind rest-api")).to_contain_text('"Location"')


def write_a_skill(page: Page) -> None:
    page.goto(f"{CONTENT}?kind=skill")
    page.get_by_role("link", name="Add a skill").click()
    page.get_by_label("Name*").fill("harbour-letters")
    page.get_by_label("SKILL.md*").fill(SKILL)
    page.get_by_role("button", name="Add a file").click()
    page.get_by_label("Path").fill("letters/welcome.md")
    page.get_by_role("textbox", name="Text", exact=True).fill(LETTER)
    page.get_by_role("button", name="Check and preview without saving").click()
    preview = page.locator("[data-content-preview]")
    expect(preview.get_by_role("status")).to_have_text("No issues.")
    expect(preview.get_by_label("Description for the model")).to_contain_text(
        "<name>harbour-letters</name>"
    )
    save(page)
    expect(page.get_by_label("Instructions, loaded when a task needs them")).to_contain_text(
        "<file>letters/welcome.md</file>"
    )
    expect(
        page.get_by_text("All applications: skills are available to all of them.")
    ).to_be_visible()
    assert barriers(page) == []


def watch_the_demo_read_it(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Demo", exact=True).click()
    question = page.get_by_label("Your question")
    question.fill("Read the skill harbour-letters and its file letters/welcome.md.")
    question.press("Enter")

    answer = page.locator("chat-answer").last
    expect(answer.locator(".answer-foot")).to_be_visible(timeout=ANSWERED_WITHIN)
    stages = answer.locator(".step-title", has_text="Reading Skill: harbour-letters")
    expect(stages).to_have_count(2)
    expect(answer).to_contain_text("berth 7 is yours.")
