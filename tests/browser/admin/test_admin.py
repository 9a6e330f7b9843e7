"""An operator uses the admin in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers

pytestmark = pytest.mark.usefixtures("demo_model")

LIST = "/admin/catalog/application/"
DEPLOYMENTS = "/admin/workspace/deployment/"


def test_a_connection_is_tested_without_saving(admin_page: Page):
    page = admin_page
    page.goto("/admin/workspace/deployment/add/")
    page.get_by_label("Base URL").fill("http://127.0.0.1:9/v1")
    page.get_by_label("Model name").fill("another")
    expect(page.get_by_label("Deployment ID")).to_be_hidden()
    expect(page.get_by_label("Remove the stored key")).to_have_count(0)

    page.get_by_role("button", name="Test connection").click()

    status = page.locator("[data-test-connection] [role=status]")
    expect(status).to_have_text(
        "Nothing listens at this host and port. Check the base URL, and that the service runs."
    )


def test_a_test_shows_what_is_known_of_a_model_and_fills_in_what_its_service_says(admin_page: Page):
    page = admin_page
    page.goto("/admin/workspace/deployment/add/")
    known = {"vision": "Default: no", "context_window": "Default: 16,385"}
    told = {"tools": True, "caching": False, "max_output_tokens": 500}
    answer = {"ok": True, "message": "The model answers.", "known": known, "told": told}
    page.route("**/deployment/test/", lambda route: route.fulfill(json=answer))
    page.get_by_text("More options").click()
    page.get_by_label("Prompt caching").select_option("Yes")
    page.get_by_text("More options").click()

    page.get_by_role("button", name="Test connection").click()

    status = page.locator("[data-test-connection] [role=status]")
    expect(status).to_have_text(
        "✓ The model answers. The capabilities below were filled in from the service."
    )
    expect(page.get_by_label("Tools", exact=True)).to_be_visible()
    expect(page.locator("[name=vision] option").first).to_have_text("Default: no")
    expect(page.locator("[data-known=context_window]")).to_have_text("Default: 16,385")
    expect(page.get_by_label("Tools", exact=True)).to_have_value("true")
    expect(page.get_by_label("Prompt caching")).to_have_value("true")
    expect(page.get_by_label("Maximum output")).to_have_value("500")


def test_the_box_of_a_selected_row_shows_its_mark(admin_page: Page):
    page = admin_page
    page.goto(DEPLOYMENTS)
    box = page.locator("input.action-select").first

    box.check()

    expect(box).to_have_css("background-color", "rgb(15, 118, 110)")


def test_the_rows_of_a_list_are_cards_with_labels_on_phones(admin_page: Page):
    page = admin_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(DEPLOYMENTS)

    row = page.locator(".data-row").first

    cell = row.locator("[data-label='Kind']")
    expect(cell).to_have_css("content", '"Kind"', pseudo="before")
    expect(cell).to_have_css("text-transform", "none", pseudo="before")
    expect(row.get_by_role("checkbox")).to_be_visible()


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.walkthrough
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_keep_nobody_out(admin_page: Page, scheme: Any, width: int):
    page = admin_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for path in (
        "/admin/",
        LIST,
        "/admin/workspace/deployment/add/",
        "/admin/auth/group/add/",
        "/admin/accounts/apikey/add/",
        "/admin/triggers/webhook/add/",
        "/admin/triggers/subscription/add/",
        "/admin/triggers/delivery/",
    ):
        page.goto(path)
        assert (path, barriers(page)) == (path, [])


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_the_page_that_signs_in_keeps_nobody_out(page: Page):
    page.goto("/admin/login/?next=/admin/")

    assert barriers(page) == []
    for _ in range(6):
        page.get_by_label("Username").fill("somebody-who-guesses")
        page.get_by_label("Password").fill("wrong")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "Too many failed attempts. Wait 5 minutes, then try again."
    )
    expect(page.get_by_label("Username")).to_be_focused()
    assert barriers(page) == []
