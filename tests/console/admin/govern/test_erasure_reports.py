"""Operators read reports of erased accounts, and download them."""

from __future__ import annotations

import pytest
from django.test import Client

from apps.accounts.models import ErasureReport
from tests.console.pages import staff, words

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/admin/accounts/erasurereport/"


@pytest.fixture
def report() -> ErasureReport:
    return ErasureReport.objects.create(
        account=77,
        requested_by="user-77",
        removed={"messages": 1200},
        retained={
            "applications": {"count": 3, "reason": "They continue."},
            "audit_events": {"count": None, "reason": "The audit."},
        },
        remaining={"files": 2},
    )


def test_a_report_is_read_and_downloaded(report: ErasureReport):
    client = staff("view_erasurereport")

    listed, page = words(client.get(PAGE)), words(client.get(f"{PAGE}{report.pk}/change/"))
    file = client.get(f"{PAGE}{report.pk}/download/")

    assert "Not finished" in listed
    assert "1,200 messages" in page
    assert "3 applications: They continue." in page
    assert "audit_events: The audit." in page
    assert file.json() == report.document()
    assert file["Content-Disposition"] == 'attachment; filename="erasure-77.json"'


@pytest.mark.parametrize(("words", "count"), [("77", 1), ("7", 0), ("none", 0)])
def test_a_report_is_found_by_the_number_of_the_account(
    report: ErasureReport, words: str, count: int
):
    listed = staff("view_erasurereport").get(PAGE, {"q": words})

    assert len(listed.context["cl"].result_list) == count


def test_only_viewers_of_reports_read_them(report: ErasureReport):
    client = staff("view_auditentry")

    pages = [client.get(PAGE), client.get(f"{PAGE}{report.pk}/download/")]

    assert [page.status_code for page in pages] == [403, 403]
    assert Client().get(f"{PAGE}{report.pk}/download/").status_code == 302
