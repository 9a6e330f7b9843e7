"""A new operator connects a model and publishes an application with tools and a file in few
actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import barriers, sign_in_as_admin, watch
from tests.browser.studio.parcels import parcel_service
from tests.capabilities.mcp.servers import serving_apart
from tests.peers.upstream import Upstream, serve_upstream
from tests.sites.serving import Site

MOST_ACTIONS = 15
"""From the link to connect a model to the published application."""
MOST_FURTHER_ACTIONS = 7
"""From there to a published second version with a skill and a starter."""
FIND = 'call Parcels_find_parcel {"number": 7}'
READ = "file_content_extraction_tool"
SKILL = """---
name: tone-of-voice
description: How we write. Read it before you write to a customer.
---

Short sentences.
"""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with serve_upstream() as served:
        yield served


class Operator:
    """Counts the user's actions: clicks, texts that are typed or pasted into a field, and files
    that are dropped."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.actions = 0

    def open(self, address: str) -> None:
        """Follow the link of a first step."""
        self.actions += 1
        self.page.goto(address)

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()

    def write(self, place: Locator, text: str) -> None:
        self.actions += 1
        place.fill(text)

    def paste(self, text: str) -> None:
        self.actions += 1
        place = self.page.get_by_label("Paste a URL or text")
        place.focus()
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("Control+v")

    def drop(self, place: Locator, file: Path) -> None:
        self.actions += 1
        files = self.page.evaluate_handle(
            "([name, text]) => { const held = new DataTransfer();"
            " held.items.add(new File([text], name)); return held; }",
            [file.name, file.read_text()],
        )
        place.dispatch_event("drop", {"dataTransfer": files})

    def section(self, name: str) -> None:
        menu = self.page.get_by_role("navigation", name="Sections of the application")
        self.click(menu.get_by_role("link", name=name))

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def publish(self, version: int, note: str = "") -> None:
        self.button("Publish…")
        if note:
            self.write(self.page.get_by_label("Release note"), note)
        self.button("Publish")
        status = self.page.locator(".studio-bar .studio-status")
        expect(status).to_have_text(f"Published as version {version}.")


def connect(operator: Operator, site: Site, upstream: Upstream) -> None:
    page = operator.page
    operator.open(f"{site.url}/admin/workspace/deployment/add/?next=application")
    operator.write(page.get_by_label("Base URL"), upstream.url)
    operator.write(page.get_by_label("Model name"), "Echo 1")
    operator.write(page.get_by_label("API key", exact=True), "sk-of-the-operator")
    operator.button("Save")
    expect(page.get_by_role("heading", name="New application")).to_be_visible()


def make(
    operator: Operator, server: str, service: str, file: Path, seen: Callable[[], None]
) -> None:
    page = operator.page
    operator.write(page.get_by_label("Title"), "Parcel desk")
    operator.button("Create and open the studio")
    operator.section("Tools")
    operator.paste(server)
    expect(page.get_by_text("Connected.")).to_be_visible()
    operator.button("Add these tools")
    expect(page.locator("[data-toolset]")).to_have_count(1)
    expect(page.get_by_label("Paste a URL or text")).to_be_focused()
    operator.paste(f"{service}/openapi.json")
    expect(page.get_by_role("checkbox", name="find_parcel")).to_be_checked()
    expect(page.get_by_role("checkbox", name="send_parcel")).not_to_be_checked()
    seen()
    operator.button("Add these tools")
    expect(page.locator("[data-toolset]")).to_have_count(2)
    operator.drop(page.get_by_role("heading", name="Add tools"), file)
    expect(page.get_by_text("Uploaded: policy.md.")).to_be_visible()
    expect(page.get_by_label("Search the files")).to_be_checked()
    seen()
    operator.publish(1)


def extend(operator: Operator, seen: Callable[[], None]) -> None:
    page = operator.page
    operator.section("Tools")
    operator.paste(SKILL)
    expect(page.get_by_text("The skill tone-of-voice was added")).to_be_visible()
    operator.section("Starters")
    operator.write(page.get_by_label("Question", exact=True), FIND)
    expect(page.get_by_label("Button", exact=True)).to_have_value(FIND)
    seen()
    operator.publish(2, "A skill and a starter")


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_new_operator_comes_from_a_model_to_a_published_application_in_fifteen_actions(
    page: Page, site: Site, upstream: Upstream, tmp_path: Path
):
    sign_in_as_admin(page, site)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    file = tmp_path / "policy.md"
    file.write_text("Returns are accepted within 45 days.")
    operator, found = Operator(page), list[str]()
    with parcel_service() as service, serving_apart("http") as server:
        connect(operator, site, upstream)
        make(operator, server, service, file, lambda: found.extend(barriers(page)))
        path = page.get_by_label("Path", exact=True).input_value()
        first = operator.actions
        extend(operator, lambda: found.extend(barriers(page)))
        further = operator.actions - first

        with page.expect_popup() as opened:
            page.get_by_role("link", name="Open in chat").click()
        chat = opened.value
        problems = watch(chat)
        chat.get_by_role("button", name=FIND, exact=True).click()
        expect(chat.get_by_text("Parcels · find_parcel").first).to_be_visible()
        expect(chat.get_by_text("on its way").first).to_be_visible()

        question = chat.get_by_label("Your question")
        question.fill(f"call {READ} {json.dumps({'file_url': path})}")
        question.press("Enter")
        expect(chat.get_by_text("Returns are accepted within 45 days.").first).to_be_visible()
    assert (found, problems) == ([], [])
    assert first <= MOST_ACTIONS
    assert further <= MOST_FURTHER_ACTIONS
