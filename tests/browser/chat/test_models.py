"""Models in a conversation: one that suggests its title, and others that users choose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.conftest import barriers
from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

PREPARE = """
for name, title in (("quick", "Quick"), ("careful", "Careful")):
    Deployment.objects.create(
        deployment_id=name, display_name=title, base_url=url, model_name=name, api_key="k"
    )
orchestrator = {"deployment": {"deployment_id": "quick"}, "choices": ["careful"]}
features = {"titles": {}}
manifest = {"orchestrator": orchestrator, "contexts": [], "tool_sets": [], "features": features}
Application.objects.create(slug=slug, title="Models", is_public=True, manifest=manifest)
"""
OTHER = """
manifest = {"orchestrator": {"deployment": {"deployment_id": "quick"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug=slug, title=f"Ships {slug}", is_public=True, manifest=manifest)
"""
NAMES = ("plan.txt", "b.txt")
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 360))


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    slug = f"models-{uuid4().hex[:6]}"
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=slug)
        yield f"/chat/{slug}/"


def ask(page: Page, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")
    wait_for_answer(page)


def test_another_model_is_chosen_for_the_conversation_and_for_one_more_answer(
    page: Page, address: str
):
    page.goto(address)
    model = page.get_by_role("button", name="Choose a model")
    model.press("ArrowDown")
    expect(page.get_by_role("option", name="Quick")).to_be_focused()
    expect(page.get_by_role("option")).to_have_text([re.compile("Quick"), "Careful"])
    assert barriers(page) == []
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    expect(model).to_be_focused()
    ask(page, "What is it?")
    expect(page.locator(".figures")).to_contain_text("Careful")
    page.reload()
    wait_for_answer(page)
    expect(model).to_have_accessible_name("Choose a model: Careful")

    page.get_by_role("button", name="More options for this answer").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem")).to_have_text(
        [
            "Copy as text",
            "Read aloud",
            "Answer again with Quick",
            "Answer again with Careful",
            "Compare models",
            "New chat from here",
            "Delete question and answer",
        ]
    )
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More options for this answer").press("Enter")
    page.get_by_role("menuitem", name="Answer again with Quick").press("Enter")
    expect(page.locator(".actions-place")).to_have_text("2/2")
    wait_for_answer(page)
    expect(page.locator(".figures")).to_contain_text("Quick")
    expect(model).to_have_accessible_name("Choose a model: Careful")


def test_answers_of_two_models_are_compared_and_one_is_picked(page: Page, address: str):
    page.goto(address)
    ask(page, "Which is better?")
    page.get_by_role("button", name="More options for this answer").press("Enter")
    page.get_by_role("menuitem", name="Compare models").press("Enter")
    dialog = page.get_by_role("dialog", name="Compare models")
    expect(dialog.get_by_role("heading", level=3)).to_have_text(
        [re.compile("^Quick"), "Another model"]
    )
    dialog.get_by_role("button", name="Careful").press("Enter")
    expect(dialog.get_by_role("heading", level=3)).to_have_text(
        [re.compile("^Quick"), re.compile(r"^Careful .+ s")]
    )
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tabs = dialog.get_by_role("group", name="Answers")
    pick = dialog.get_by_role("button", name="Pick this answer")
    expect(pick).to_have_count(1)  # one answer is shown at a time
    tabs.get_by_role("button", name="Quick").press("Enter")

    pick.press("Enter")

    expect(dialog).to_have_count(0)
    expect(page.locator(".actions-place")).to_have_text("1/2")
    thumb = page.get_by_role("button", name="Good answer")
    expect(thumb).to_have_attribute("aria-pressed", "true")
    thumb.press("Enter")
    expect(page.locator("chat-feedback textarea")).to_have_value("Preferred to: Careful")


@pytest.mark.slow("uses several pages in a browser")
def test_a_folder_has_instructions_and_files_for_its_conversations(page: Page, address: str):
    page.goto(address)
    ask(page, "Where to?")
    page.get_by_role("button", name="More options for Where to?").press("Enter")
    page.get_by_role("menuitem", name="Move to folder…").press("Enter")
    page.get_by_label("Name").fill("Riga")
    page.keyboard.press("Enter")
    expect(page.locator(".history-folder").get_by_role("link", name="Where to?")).to_be_visible()
    expect(page.locator("history-dialog dialog")).to_have_count(0)  # the list may be faster

    more = page.get_by_role("button", name="More options for the folder Riga")
    dialog = page.get_by_role("dialog", name="Riga")
    field = dialog.get_by_label("Instructions for all")

    def show() -> None:
        more.press("Enter")
        page.get_by_role("menuitem", name="Instructions and files…").press("Enter")
        expect(field).to_be_focused()

    show()
    page.keyboard.type("Answer in Latvian.")
    dialog.locator("#folder-files").set_input_files(
        [FilePayload(name=name, mimeType="text/plain", buffer=b"Go.") for name in NAMES]
    )
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(field).to_have_value("Answer in Latvian.")
    dialog.get_by_role("button", name="Delete b.txt").press("Enter")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    dialog.get_by_role("button", name="Save instructions").press("Enter")
    expect(dialog).to_have_count(0)
    expect(more).to_be_focused()

    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        if width < 960:
            page.get_by_role("button", name="Menu").click()
        show()
        expect(field).to_have_value("Answer in Latvian.")
        expect(dialog.get_by_role("link", name="plan.txt")).to_be_visible()
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("Escape")


@pytest.mark.slow("uses several pages in a browser")
def test_a_conversation_goes_on_with_another_application(
    page: Page, context: BrowserContext, address: str, site: Site
):
    slug = f"ships-{uuid4().hex[:6]}"
    site.shell(OTHER, slug=slug)
    page.goto(address)
    ask(page, "A train?")
    other = context.new_page()
    other.goto(page.url)
    wait_for_answer(other)

    page.get_by_role("button", name="More options for A train?").press("Enter")
    page.get_by_role("menuitem", name="Continue in another app…").press("Enter")
    dialog = page.get_by_role("dialog", name="Continue in another app")
    dialog.get_by_label(f"Ships {slug}").press("Space")
    assert barriers(page) == []
    dialog.get_by_role("button", name="Continue").press("Enter")
    page.wait_for_url(f"**/chat/{slug}/*/")
    other.wait_for_url(f"**/chat/{slug}/*/")
    expect(page.locator("#application-title")).to_have_text(f"Ships {slug}")
    wait_for_answer(page)
    ask(page, "A ship?")
    for one in (page, other):
        expect(one.get_by_text(f"Ships {slug} answers from here on")).to_be_visible()
        expect(one.locator(".question")).to_have_count(2)
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (scheme, width, barriers(page)) == (scheme, width, [])
