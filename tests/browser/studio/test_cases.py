"""An operator writes a case in rows, runs it and reads the failures, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.sites.serving import Site

pytestmark = pytest.mark.usefixtures("demo_model")


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_case_is_written_in_rows_run_live_recorded_and_replayed(site: Site, admin_page: Page):
    page = admin_page
    number = site.shell(
        """
        from tests.catalog.rows import store_application
        result = store_application(slug="with-cases", title="With cases").pk
        """
    )
    page.goto("/admin/cases/case/add/")
    page.get_by_role("textbox", name="Name").fill("Greets")
    page.locator("select[name=application]").select_option(str(number))
    page.get_by_label("Text of message 1").fill("Say hello.")
    page.get_by_role("button", name="Add an expectation").click()
    page.get_by_label("Kind of expectation 1").select_option("equals")
    page.get_by_label("Text", exact=True).fill("Hello")
    written = page.locator("textarea[name=expectations]")
    expect(written).to_have_value('[\n  {\n    "kind": "equals",\n    "text": "Hello"\n  }\n]')
    assert barriers(page) == []
    # A value of another type than its row produces is shown as well.
    page.get_by_text("As JSON").last.click()
    written.fill('[{"kind": "in_order", "tools": "web_fetch"}]')
    expect(page.get_by_label("Names, one per line")).to_have_value("web_fetch")
    written.fill('[{"kind": "equals", "text": "Hello"}]')
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_role("link", name="Run this test case").click()

    page.get_by_label("Live", exact=True).check()
    page.get_by_label("Record it").check()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("0 of 1 passed")).to_be_visible()
    expect(page.get_by_text("The answer differs from the expected text.")).to_be_visible()
    assert barriers(page) == []

    page.get_by_role("link", name="Run again").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("The answer differs from the expected text.")).to_be_visible()
    page.get_by_text("Compare with…").click()
    page.locator(".console-choice").get_by_role("link").click()
    expect(
        page.get_by_role("cell").filter(has_text="The answer differs from the expected text.")
    ).to_have_count(2)
    assert barriers(page) == []
