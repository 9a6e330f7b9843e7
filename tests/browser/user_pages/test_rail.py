"""The sidebar finds, organizes and opens conversations of all applications without loading the
page."""

from __future__ import annotations

import re
from typing import Literal
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers
from tests.sites.serving import Site

CREATE = """
from apps.catalog.models import Application
manifest = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug=slug, title=title, is_public=True, manifest=manifest)
"""
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 360))


@pytest.fixture(scope="module")
def slugs(site: Site, demo_model: None) -> list[str]:
    names = [f"{word}-{uuid4().hex[:6]}" for word in ("trains", "ships")]
    for name in names:
        site.shell(CREATE, slug=name, title=name)
    return names


def ask(page: Page, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")
    wait_for_answer(page)


def choose(page: Page, name: str, item: str) -> None:
    page.get_by_role("button", name=f"More options for {name}").focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name=item).press("Enter")


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_conversations_of_all_applications_open_in_place(
    page: Page, context: BrowserContext, slugs: list[str]
) -> None:
    trains, ships = slugs
    page.goto(f"/chat/{trains}/")
    other = context.new_page()
    other.goto(f"/chat/{ships}/")
    page.evaluate("globalThis.isSamePage = true")
    ask(page, "A train to Riga?")
    expect(other.get_by_role("link", name="A train to Riga?")).to_be_visible()
    ask(other, "A ship to Oslo?")
    first = page.url

    question(page).fill("Half a thought")
    page.get_by_role("link", name="A ship to Oslo?").click()
    page.wait_for_url(re.compile(f"/chat/{ships}/"))
    expect(page).to_have_title(f"A ship to Oslo? · {ships}")
    expect(page.get_by_role("heading", name="A ship to Oslo?")).to_be_visible()
    expect(page.locator("#application-title")).to_have_text(ships)
    wait_for_answer(page)
    expect(question(page)).to_be_focused()
    expect(question(page)).to_have_value("")
    ask(page, "And back?")
    expect(other.locator(".question")).to_have_count(2)

    page.go_back()
    expect(question(page)).to_have_value("Half a thought")
    expect(page.locator(".question")).to_contain_text("A train to Riga?")
    page.go_forward()
    expect(page.locator(".question")).to_have_count(2)
    page.get_by_role("link", name="New chat").click()
    page.wait_for_url(f"**/chat/{ships}/")
    ask(page, "Something new")
    assert page.url not in (first, other.url)

    page.get_by_label("Search conversations").fill("riga")
    page.get_by_role("list", name="Search results").get_by_role("link").click()
    expect(page.locator(".question:focus")).to_contain_text("A train to Riga?")
    assert (page.url, page.evaluate("isSamePage")) == (first, True)


@pytest.mark.slow("uses several pages in a browser")
def test_the_title_in_the_head_renames_where_the_rail_is_behind_its_button(
    page: Page, slugs: list[str]
) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"/chat/{slugs[0]}/")
    ask(page, "Which way?")

    page.get_by_role("button", name="Which way?", exact=True).press("Enter")
    page.get_by_label("Title").fill("North")
    page.get_by_label("Title").press("Enter")

    expect(page.get_by_role("heading", name="North", level=1)).to_be_visible()
    expect(page.locator("#sidebar")).to_be_hidden()


@pytest.mark.slow("a walk through several pages in a browser")
def test_they_are_arranged_with_the_keyboard_alone(
    page: Page, context: BrowserContext, slugs: list[str]
) -> None:
    page.goto(f"/chat/{slugs[0]}/")
    ask(page, "Where to?")
    other = context.new_page()
    other.goto("/")
    other.goto(f"/chat/{slugs[1]}/")

    choose(page, "Where to?", "Move to folder…")
    page.get_by_label("Name").fill("Plans")
    page.keyboard.press("Enter")
    folder = other.locator(".history-folder")
    expect(folder.get_by_role("link", name="Where to?")).to_be_visible()
    expect(page.locator("history-dialog dialog")).to_have_count(0)
    page.get_by_role("link", name="Where to?").press("F2")
    page.get_by_label("Title").fill("Oslo")
    page.keyboard.press("Enter")
    expect(folder.get_by_role("link", name="Oslo")).to_be_visible()
    choose(page, "Oslo", "Pin")
    expect(other.get_by_role("heading", name="Pinned")).to_be_visible()
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        if width < 960:
            page.get_by_role("button", name="Menu").click()
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})

    choose(page, "Oslo", "Archive")
    expect(page.get_by_role("link", name="Oslo")).to_have_count(0)
    page.get_by_role("button", name="Archived").press("Enter")
    expect(page.get_by_role("link", name="Oslo")).to_be_visible()
    choose(page, "Oslo", "Delete")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Oslo")).to_be_visible()
    choose(page, "Oslo", "Restore from the archive")
    expect(folder.get_by_role("link", name="Oslo")).to_be_visible()


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_conversation_is_dragged_into_a_folder_and_out_of_it(
    page: Page, slugs: list[str]
) -> None:
    page.goto(f"/chat/{slugs[0]}/")
    ask(page, "Dragged?")
    page.get_by_role("button", name="New folder").click()
    page.get_by_label("Name").fill("Box")
    page.keyboard.press("Enter")
    box = page.locator(".history-folder", has_text="Box")
    dragged = page.get_by_role("link", name="Dragged?")
    expect(box.get_by_text("This folder is empty.")).to_be_visible()

    dragged.drag_to(box)
    expect(box.get_by_role("link", name="Dragged?")).to_be_visible()
    page.reload()
    expect(box.get_by_role("link", name="Dragged?")).to_be_visible()
    dragged.drag_to(page.get_by_role("button", name="Archived"))
    expect(box.get_by_role("link", name="Dragged?")).to_have_count(0)
    expect(dragged).to_be_visible()


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_first_page_keeps_applications_at_hand(page: Page, slugs: list[str]) -> None:
    page.goto(f"/chat/{slugs[0]}/")
    ask(page, "Where to?")
    page.goto("/")
    expect(page.get_by_role("region", name="Pick up where you left off")).to_contain_text(
        "Where to?"
    )

    page.get_by_role("button", name=f"Pin {slugs[1]} to the sidebar").click()

    pinned = page.get_by_role("region", name="Pinned")
    expect(pinned.get_by_role("link", name=slugs[1])).to_be_visible()
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
