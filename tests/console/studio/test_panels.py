"""The studio's sections that the server renders: versions, test cases, runs and usage."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import AuditEntry
from apps.agent.meter import SentRequest
from apps.cases.models import CaseResult, CaseRun
from apps.catalog.actions import archive, publish, save_draft
from apps.catalog.models import Application
from apps.catalog.versions.drafts import draft_of
from apps.insights.meter import KeptRequest
from apps.live.history import sent_requests
from apps.live.run_summary import RunSummary
from tests.cases.rows import make_case
from tests.catalog.rows import make_application, manifest_with
from tests.console.pages import browser_of, staff_account, words
from tests.console.studio.asking import address, page_data

pytestmark = pytest.mark.django_db


def panel(client: Client, row: Application, name: str) -> Any:
    return client.get(address(row, f"panels/{name}"))


def save_change(row: Application, **changes: Any) -> None:
    save_draft.execute(row, {"manifest": manifest_with(**changes)}, draft_of(row).version, None)


def test_the_draft_and_the_latest_versions_can_be_compared_with_the_live_one(admin_client):
    row = make_application()
    save_change(row, features={"todo": {"enabled": True}})
    publish.execute(row, "A to-do list", user=None)
    row.refresh_from_db()
    save_change(row, features={"notes": {"enabled": True}})

    answer = panel(admin_client, row, "versions")

    text = words(answer)
    assert text.index("Draft") < text.index("Version 2") < text.index("Version 1")
    assert "A to-do list" in text
    assert text.count("live") == 1
    place = f"/admin/catalog/application/{row.pk}/versions/"
    assert f'href="{place}compare/?from=2&amp;to=draft"' in answer.text
    assert f'href="{place}compare/?from=1&amp;to=2"' in answer.text
    archive.execute(row)
    text = words(panel(admin_client, row, "versions"))
    assert ("Version 2 archived" in text, "Restore…" in text) == (True, False)
    assert f'href="{place}#version-1"' in answer.text
    assert f'href="{place}#version-2"' not in answer.text


def test_test_cases_show_their_last_result_and_can_be_run(admin_client):
    row = make_application()
    assert "No test cases yet." in words(panel(admin_client, row, "cases"))
    greets, books = make_case(row, "greets"), make_case(row, "books")
    run = CaseRun.objects.create(application=row)
    CaseResult.objects.create(run=run, case=greets, name=greets.name, passed=False)

    answer = panel(admin_client, row, "cases")

    text = words(answer)
    assert text.index("books") < text.index("never run") < text.index("greets")
    assert text.index("greets") < text.index("failed")
    run_page = f'href="/admin/cases/case/run/?application={row.slug}'
    assert f'{run_page}"' in answer.text
    assert f'{run_page}&amp;case={books.pk}"' in answer.text


def test_the_latest_runs_show_their_questions_and_reading_them_is_recorded(admin_client):
    row = make_application()
    run = RunSummary.objects.create(
        application=row.slug, bucket="key-1", status="failed", seconds=2.5, door="gateway"
    )
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Where to?"}]}'
    request = SentRequest("m", body, (), frozenset())
    sent_requests.write([KeptRequest(run.pk, run.pk, row.slug, False, request, 1.0)])
    watcher = browser_of(
        staff_account("vera", "view_application", "see_all_applications", "view_runsummary")
    )

    withheld = words(panel(watcher, row, "runs"))
    assert not AuditEntry.objects.filter(event="contents.read").exists()
    answer = panel(admin_client, row, "runs")

    assert "Where to?" not in withheld
    assert "Run at " in withheld
    text = words(answer)
    assert all(one in text for one in ("Where to?", "failed", "2.50 s", "Failed runs (1)"))
    assert f'href="/admin/runs/runsummary/{run.pk}/change/"' in answer.text
    assert AuditEntry.objects.get(event="contents.read").application == row.slug


def test_the_usage_of_an_application_has_only_its_own_runs(admin_client):
    row = make_application()
    assert "No usage in the last 30 days." in words(panel(admin_client, row, "usage"))
    for slug, status in ((row.slug, "done"), (row.slug, "failed"), ("other", "done")):
        RunSummary.objects.create(application=slug, bucket="key-1", status=status)

    assert "Runs21 failed" in words(panel(admin_client, row, "usage"))


def test_failed_test_messages_are_listed_but_do_not_count_as_failures(admin_client):
    row = make_application()
    RunSummary.objects.create(application=row.slug, bucket="user-1", status="failed", door="studio")

    runs = words(panel(admin_client, row, "runs"))

    assert "· Studio" in runs
    assert "Failed runs" not in runs
    assert "No usage in the last 30 days." in words(panel(admin_client, row, "usage"))


def test_a_section_is_shown_only_to_users_who_may_see_its_page():
    row = make_application()
    viewer = browser_of(staff_account("vera", "view_application", "see_all_applications"))

    shown = page_data(viewer, row)["panels"]

    assert shown == {"versions": address(row, "panels/versions")}
    assert panel(viewer, row, "versions").status_code == 200
    assert "Restore" not in words(panel(viewer, row, "versions"))
    assert panel(viewer, row, "runs").status_code == 403
    assert panel(viewer, row, "no-such-section").status_code == 404
