"""Feedback for scripts."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.accounts.audit_entry import AuditEntry
from tests.catalog.rows import make_application, make_operator
from tests.console.admin.test_feedback import SAID, add_feedback

pytestmark = pytest.mark.django_db
ADDRESS = "/api/feedback/"


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_authenticate(make_operator())
    return client


def test_scripts_list_feedback_and_change_its_state_and_note_alone(api):
    row = add_feedback(make_application(), application_version=3)
    add_feedback(make_application("other"), rating="up", reason="")

    found = api.get(f"{ADDRESS}?application=travel&version=3&rating=down&since=2020-01-01")
    changed: Any = api.patch(f"{ADDRESS}{row.pk}/", {"state": "in_work", "comment": "Great!"})
    wrong = api.get(f"{ADDRESS}?version=three")

    [told] = found.data["results"]
    assert (told["id"], told["application"], told["state"]) == (row.pk, "travel", "new")
    assert "transcript" not in told
    row.refresh_from_db()
    assert (changed.status_code, row.state, row.comment) == (200, "in_work", "No.")
    assert wrong.status_code == 400


def test_the_transcript_is_told_where_it_was_sent_along_and_recorded(api):
    shared = add_feedback(make_application(), transcript=SAID, shares_transcript=True)
    kept = add_feedback(make_application("other"))

    read = api.get(f"{ADDRESS}{shared.pk}/transcript/")
    refused = api.get(f"{ADDRESS}{kept.pk}/transcript/")

    assert (read.status_code, read.data) == (200, SAID)
    assert refused.status_code == 403
    events = AuditEntry.objects.order_by("pk").values_list("event", flat=True)
    assert list(events) == ["contents.read", "access.denied"]
