"""Lists of values in the admin are operated with the keyboard, and named values are searched."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, barriers_of_looks
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")

CONTENT = "/admin/catalog/contentitem/"
RUNS = "/admin/runs/runsummary/"


@pytest.fixture
def number(site: Site) -> Iterator[int]:
    """Return the ID of an application with two versions, a test case and two runs of it."""
    found = site.shell(
        """
        from apps.catalog.versions.version_recorder import save_live
        from tests.catalog.rows import store_application
        row = store_application(slug="searched", title="Searched", is_enabled=True)
        row.title = "Searched again"
        save_live(row)
        Case.objects.create(application=row, name="Greets", messages=[], expectations=[])
        for target in ("1", "live"):
            CaseRun.objects.create(application=row, target=target, state="passed")
        result = row.pk
        """
    )
    yield found
    site.shell("Application.objects.filter(pk=number).delete()", number=found)


def test_a_list_of_links_is_operated_with_the_keyboard(admin_page: Page):
    page = admin_page
    page.goto(CONTENT)
    kinds = page.locator(".console-choice").first
    button, links = kinds.locator("summary"), kinds.get_by_role("link")

    button.focus()
    page.keyboard.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(links.last).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("End")
    expect(links.last).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(links.first).to_be_hidden()
    expect(button).to_be_focused()

    button.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("kind="))


def test_a_list_of_links_closes_when_the_focus_leaves_it(admin_page: Page):
    page = admin_page
    page.goto(CONTENT)
    first, second = page.locator(".console-choice").all()

    first.locator("summary").press("Enter")
    second.locator("summary").focus()

    expect(first.get_by_role("link").first).to_be_hidden()


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_runs_are_filtered_searched_and_shown_again_without_filters(admin_page: Page, number: int):
    page = admin_page
    page.goto(f"{RUNS}?status=failed")
    applications = page.locator(".console-choice", has_text="Application")
    applications.locator("summary").press("Enter")
    assert barriers(page) == []
    applications.get_by_role("link", name="Searched again").press("Enter")
    page.locator(".console-choice", has_text="State").locator("summary").click()
    page.get_by_role("link", name="Stopped").click()
    page.get_by_text("More filters").click()
    page.get_by_label("Tool").fill("weather")
    assert barriers(page) == []
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("status=stopped&application=searched.*&tool=weather"))
    expect(applications.locator("summary")).to_have_text(re.compile("Searched again"))
    expect(page.get_by_role("heading", name="Nothing matches the filters")).to_be_visible()
    assert barriers_of_looks(page) == []

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search", exact=True)).to_be_focused()
    page.keyboard.type("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing found for “nobody”")).to_be_visible()
    expect(page).to_have_url(re.compile("status=stopped"))
    page.get_by_role("link", name="Clear", exact=True).click()
    expect(page).to_have_url(re.compile(r"runsummary/\?$"))


@pytest.mark.slow("axe reads pages in a browser, one after the other")
def test_versions_and_test_runs_are_compared_with_those_of_a_list(
    admin_page: Page, number: int, site: Site
):
    page = admin_page
    page.goto(f"/admin/catalog/application/{number}/versions/compare/?from=1&to=1")
    page.locator(".console-choice", has_text="To").locator("summary").click()
    page.get_by_role("link", name="Version 2").click()
    expect(page.locator("ins")).to_contain_text("Searched again")
    assert barriers_of_looks(page) == []

    latest = site.shell("result = CaseRun.objects.latest('pk').pk")
    page.goto(f"/admin/cases/caserun/{latest}/change/")
    page.get_by_text("Compare with…").click()
    assert barriers(page) == []
    page.get_by_role("link", name="Version 1").click()
    expect(page.get_by_role("columnheader", name="Version 1")).to_be_visible()

    page.goto("/admin/cases/case/run/?application=searched")
    page.get_by_role("combobox", name="State").press("Enter")
    page.get_by_role("option", name="Version 1").click()
    expect(page.locator("#id_target")).to_have_value("1")
    assert barriers_of_looks(page) == []
