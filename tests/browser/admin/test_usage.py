"""The usage pages of the admin in a browser: accessible charts and tables."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers_of_schemes
from tests.sites.serving import Site

FILL = """
from datetime import timedelta
from django.utils import timezone
from apps.live.run_summary import RunSummary
from tests.insights.calls import model_call, store, tool_use
at = timezone.now() - timedelta(minutes=5)
run = RunSummary.objects.create(
    door="page", application="charted", bucket="user-1", status="failed", started_at=at, seconds=3.0
)
common = {"run": run.pk, "application": "charted", "started_at": at}
store(
    model_call(**common, first_text_seconds=0.5, input_tokens=10, output_tokens=2, error="timeout"),
    tool_use(**common, has_failed=True),
)
result = str(run.pk)
"""


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_figures_are_for_everybody(admin_page: Page, site: Site):
    run = site.shell(FILL)

    admin_page.goto("/admin/insights/usagesum/?by=application&days=7")

    expect(admin_page.get_by_role("img", name="Model calls. answered")).to_be_visible()
    expect(admin_page.get_by_role("rowheader", name="charted")).to_be_visible()
    assert barriers_of_schemes(admin_page) == []
    admin_page.get_by_role("columnheader", name="Output tokens").get_by_role("link").click()
    sorted_by = admin_page.locator("[aria-sort=descending]")
    expect(sorted_by).to_have_text("Output tokens")
    for path, heading in (
        (f"/admin/runs/runsummary/{run}/change/", "Timeline"),
        ("/admin/insights/usagesum/errors/", "Latest errors"),
        ("/admin/", "Errors"),
    ):
        admin_page.goto(path)
        expect(admin_page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        assert barriers_of_schemes(admin_page) == []
