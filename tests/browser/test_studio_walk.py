"""A new operator creates an application with tools, a skill and a starter in few actions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import barriers, sign_in_as_admin, watch
from tests.browser.parcels import parcel_service
from tests.browser.serving import Site
from tests.capabilities.mcp.servers import serving_apart

MOST_ACTIONS = 15
SKILL = """---
name: tone-of-voice
description: How we write. Read it before you write to a customer.
---

Short sentences.
"""


class Operator:
    """Counts the user's actions: clicks, and texts that are typed or pasted into a field."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.actions = 0

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

    def section(self, name: str) -> None:
        menu = self.page.get_by_role("navigation", name="Sections of the application")
        self.click(menu.get_by_role("link", name=name))

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True))


def make(operator: Operator, server: str, service: str, seen: Callable[[], None]) -> None:
    page = operator.page
    operator.write(page.get_by_label("Title"), "Parcel desk")
    operator.button("Create and open the studio")
    operator.section("Tools")
    operator.paste(server)
    expect(page.get_by_text("Connected.")).to_be_visible()
    operator.button("Add these tools")
    expect(page.locator("[data-toolset]")).to_have_count(1)
    operator.paste(f"{service}/openapi.json")
    expect(page.get_by_role("checkbox", name="find_parcel")).to_be_checked()
    expect(page.get_by_role("checkbox", name="send_parcel")).not_to_be_checked()
    seen()
    operator.button("Add these tools")
    expect(page.locator("[data-toolset]")).to_have_count(2)
    operator.paste(SKILL)
    expect(page.get_by_text("The skill tone-of-voice was added")).to_be_visible()
    operator.section("Starters")
    operator.write(page.get_by_label("Question", exact=True), "Find parcel 7")
    expect(page.get_by_label("Button", exact=True)).to_have_value("Find parcel 7")
    operator.button("Publish…")
    seen()
    operator.button("Publish")
    expect(page.locator(".studio-bar .studio-status")).to_have_text("Published as version 1.")


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_new_operator_comes_to_an_answer_with_a_tool_in_fifteen_actions(page: Page, site: Site):
    sign_in_as_admin(page, site)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    operator, found = Operator(page), list[str]()
    with parcel_service() as service, serving_apart("http") as server:
        page.goto(f"{site.url}/admin/catalog/application/new/")
        make(operator, server, service, lambda: found.extend(barriers(page)))

        with page.expect_popup() as opened:
            operator.click(page.get_by_role("link", name="Open in chat"))
        chat = opened.value
        problems = watch(chat)
        operator.click(chat.get_by_role("button", name="Find parcel 7", exact=True))

        expect(chat.get_by_text("Parcels · find_parcel")).to_be_visible()
        expect(chat.get_by_text("on its way").first).to_be_visible()
    assert (found, problems) == ([], [])
    assert operator.actions <= MOST_ACTIONS
