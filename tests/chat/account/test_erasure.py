"""The report of an erased account: removed data, retained data, and results of the search."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import CASCADE, CharField
from django.test import Client

from apps.accounts.caller import bucket_of, caller_in
from apps.accounts.erasure_reports import request_erasure
from apps.accounts.legal_holds import LegalHold
from apps.accounts.models import AuditEntry, ErasureReport
from apps.chat.account.deletion import delete_account
from apps.chat.account.erasure import removed_rows, retained_rows
from apps.conversations.models import Conversation, Folder, Message
from apps.errors import Refused
from apps.live.models import RunSummary
from apps.workspace.local.files import files
from tests.chat.account.test_data_page import add, confirmed
from tests.chat.pages.test_views import add_application

UNREPORTED = {
    "allauth_idp_oidc.Client",  # its owner is never set
    "accounts.LegalHold",  # prevents the deletion of the account
    "insights.ModelCall",  # too large to be counted
    "insights.ToolUse",
}

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("storage")]


def furnish(user: User) -> str:
    mine = bucket_of(user.pk)
    application = add_application(title="Travel", owner=user)
    row = add(application, f"{mine}-team-3", "Secret plans")
    Message.objects.create(conversation=row, role="user", text="Secret plans")
    Folder.objects.create(owner=mine, name="Secret plans", position=1)
    files.keep(mine, "secret.txt", b"secret", "text/plain")
    RunSummary.objects.create(application="travel", bucket=mine, door="page")
    return mine


REMOVED = {"account": 1, "folders": 1, "files": 1, "conversations": 1, "messages": 1}
RETAINED = {"applications": 1, "rows_of_runs": 1}


def counted(report: ErasureReport) -> dict[str, int]:
    return {name: one["count"] for name, one in report.retained.items()}


def test_a_user_who_deletes_the_account_leaves_a_report(
    browser: Client, grace: User, django_capture_on_commit_callbacks: Any
):
    mine, number = furnish(grace), grace.pk
    confirmed(browser)

    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post("/account/delete/", {"confirmation": "grace"}, follow=True)

    report = ErasureReport.objects.get(account=number)
    assert report.removed.items() >= {**REMOVED, "bytes_of_files": 6}.items()
    assert counted(report).items() >= RETAINED.items()
    assert (report.requested_by, report.remaining) == (mine, {})
    assert report.finished_at is not None
    assert f"Your erasure report number is {report.pk}." in answer.text
    assert "Secret" not in str(report.document())
    assert "grace" not in str(report.document())
    event = AuditEntry.objects.get(event="account.erased")
    assert (event.actor, event.subject) == (mine, mine)


def test_an_operator_who_deletes_an_account_is_in_its_report(
    grace: User, admin_client: Client, admin_user: User, django_capture_on_commit_callbacks: Any
):
    furnish(grace)
    number = grace.pk

    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(f"/admin/auth/user/{number}/delete/", {"post": "yes"})

    report = ErasureReport.objects.get(account=number)
    assert report.removed.items() >= REMOVED.items()
    assert (report.requested_by, report.remaining) == (bucket_of(admin_user.pk), {})


def test_what_a_search_still_finds_is_in_the_report(
    grace: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
):
    furnish(grace)
    monkeypatch.setattr(files, "delete_below", lambda bucket, prefix: None)

    with django_capture_on_commit_callbacks(execute=True):
        report = delete_account(caller_in(grace.pk), grace)

    report.refresh_from_db()
    assert report.remaining == {"files": 1, "bytes_of_files": 6}


def test_an_interrupted_deletion_keeps_its_report(
    grace: User, django_capture_on_commit_callbacks: Any
):
    furnish(grace)
    first = request_erasure(grace.pk, "user-0")

    with django_capture_on_commit_callbacks(execute=True):
        report = delete_account(caller_in(grace.pk), grace)

    assert report == first
    assert report.requested_by == "user-0"
    assert report.removed.items() >= REMOVED.items()


def test_a_held_account_cannot_be_deleted_and_says_why(browser: Client, grace: User):
    mine = furnish(grace)
    LegalHold.objects.create(user=grace, owner=mine, reason="Case 7")
    confirmed(browser)

    page = browser.get("/account/delete/").text
    refused = browser.post("/account/delete/", {"confirmation": "grace"})
    with pytest.raises(Refused, match="legal reasons"):
        delete_account(caller_in(grace.pk), grace)

    assert "your data must be retained for legal reasons" in page
    assert "Case 7" not in page
    assert refused.status_code == 409
    assert User.objects.get(pk=grace.pk).is_active
    assert Conversation.objects.filter(deleted_at=None).count() == 1
    assert not ErasureReport.objects.exists()


def test_every_table_with_rows_of_a_user_is_in_the_report(grace: User):
    number = grace.pk
    counted = {rows.model for rows in removed_rows(number).values()}
    retained = (one.rows for one in retained_rows(number).values())
    counted |= {rows.model for rows in retained if rows is not None}

    owned = {
        model
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if (
            field.remote_field is not None
            and field.remote_field.model is User
            and field.remote_field.on_delete is CASCADE
        )
        or (isinstance(field, CharField) and field.name in ("bucket", "owner"))
    }

    assert {model._meta.label for model in owned - counted if not model._meta.proxy} == UNREPORTED
