"""Administrators see background jobs, and retry, cancel and pause them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import AuditEntry
from apps.tasks import kinds
from apps.tasks.failures import record_failure
from apps.tasks.models import ChoreRun, QueuedJob, TaskFailure
from apps.tasks.status import queue
from apps.triggers.models import Delivery
from apps.triggers.outgoing.attempts import enqueue_attempt
from tests.console.pages import browser_of, staff_account, words
from tests.tasks.jobs import note
from tests.triggers.outgoing.test_deliveries import make_subscription

pytestmark = pytest.mark.django_db

PAGE = "/admin/tasks/chorerun/"
AUDIT = "apps.accounts.audit.delete_old"


def act(client: Client, action: str, subject: str) -> Any:
    given = {"action": action, "subject": subject}
    return client.post(f"{PAGE}act/", given, follow=True)


def audited() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("event", "subject"))


@pytest.mark.postgres
def test_the_page_lists_jobs_and_when_recurring_ones_ran(admin_client: Client):
    ChoreRun.objects.create(work=AUDIT, started_at=timezone.now(), seconds=0.25, changed=3)
    note.using(run_after=timezone.now() + timedelta(hours=2)).enqueue("soup")

    page = words(admin_client.get(PAGE))
    other = words(admin_client.get(f"{PAGE}?kind=triggers.deliver"))

    assert "Delete audit events after 365 days" in page
    assert "0.25 s" in page
    assert "soup" in page
    assert "starts in 2 h" in page
    assert "No jobs of this kind are waiting" in other


def test_outgoing_webhooks_are_named_by_subscription_and_event(admin_client: Client):
    subscription = make_subscription("http://127.0.0.1:1/")
    delivery = Delivery.objects.create(
        subscription=subscription, event="run.failed", run=uuid4(), door="page", application="desk"
    )
    enqueue_attempt(delivery.uuid, timezone.now() + timedelta(hours=2))
    watcher = browser_of(staff_account("vera", "view_chorerun"))

    assert "Orders: An answer failed" in words(admin_client.get(PAGE))
    withheld = words(watcher.get(PAGE))
    assert str(delivery.uuid) in withheld
    assert "Orders" not in withheld


@pytest.mark.postgres
def test_a_job_is_cancelled(admin_client: Client):
    note.enqueue("soup")
    (job,) = queue().jobs("ready", kinds.ALL, 10)

    answers = [words(act(admin_client, "cancel", job.id)) for _ in range(2)]

    assert f"Job {job.id} was canceled." in answers[0]
    assert "Nothing was changed" in answers[1]
    assert (queue().counts(), audited()) == ({}, [("job.cancelled", job.id)])


@pytest.mark.postgres
@pytest.mark.parametrize("kind", [kinds.ALL, "triggers.deliver", AUDIT])
def test_a_kind_is_paused_and_resumed(admin_client: Client, kind: str):
    paused = words(act(admin_client, "pause", kind))
    names = kinds.paused_kinds()
    resumed = words(act(admin_client, "resume", kind))

    assert ("Jobs that run now finish." in paused, names) == (True, {kind})
    assert ("Resumed: " in resumed, kinds.paused_kinds()) == (True, set())
    assert audited() == [("jobs.paused", kind), ("jobs.resumed", kind)]


@pytest.mark.postgres
def test_a_recurring_job_is_run_now(admin_client: Client):
    page = words(act(admin_client, "run", AUDIT))

    (job,) = queue().jobs("ready", AUDIT, 10)
    assert "Enqueued: Delete audit events after 365 days." in page
    assert (job.kind, audited()) == (AUDIT, [("job.enqueued", AUDIT)])


@pytest.mark.parametrize(
    ("action", "subject"),
    [("pause", "tests.unknown"), ("run", "x"), ("retry", "7"), ("cancel", "x")],
)
def test_an_unknown_subject_changes_nothing(admin_client: Client, action: str, subject: str):
    assert "Nothing was changed" in words(act(admin_client, action, subject))
    assert (kinds.paused_kinds(), audited()) == (set(), [])


def test_only_staff_with_the_permission_change_jobs():
    reader = browser_of(staff_account("reader", "view_chorerun"))
    operator = browser_of(staff_account("olga", "view_chorerun", "operate_jobs"))
    other = browser_of(staff_account("other"))

    pages = [one.get(PAGE) for one in (reader, operator, other)]
    answers = [act(one, "pause", kinds.ALL).status_code for one in (reader, other, operator)]
    unknown = act(operator, "explode", kinds.ALL).status_code

    assert [one.status_code for one in pages] == [200, 200, 403]
    assert ["Pause all jobs" in words(one) for one in pages[:2]] == [False, True]
    assert (answers, unknown) == ([403, 403, 200], 403)


def test_a_failed_attempt_is_listed_with_its_error_and_a_job_that_is_gone_runs_not_again(
    admin_client: Client,
):
    record_failure("triggers.deliver", "7", 6, RuntimeError("The plate is hot."), None)
    row = TaskFailure.objects.get()

    page = admin_client.get("/admin/tasks/taskfailure/").content.decode()
    chosen = {"action": "retry", "_selected_action": row.pk}
    answer = admin_client.post("/admin/tasks/taskfailure/", chosen, follow=True)

    assert "RuntimeError: The plate is hot." in page
    assert "Jobs restarted: 0." in answer.content.decode()


def test_a_failed_job_runs_again(admin_client: Client):
    job = QueuedJob.objects.create(
        task="tests.note",
        attempts=2,
        status=QueuedJob.Status.FAILED,
        arguments={"args": [], "kwargs": {}},
    )
    record_failure("tests.note", str(job.pk), 2, RuntimeError("The plate is hot."), None)
    chosen = {"action": "retry", "_selected_action": TaskFailure.objects.get().pk}

    listed = words(admin_client.get(PAGE))
    answer = admin_client.post("/admin/tasks/taskfailure/", chosen, follow=True)

    job.refresh_from_db()
    assert "Failed" in listed
    assert "Jobs restarted: 1." in answer.content.decode()
    assert (job.status, job.attempts) == ("ready", 0)
    assert audited() == [("job.retried", str(job.pk))]


@pytest.mark.parametrize(("is_final", "count"), [("1", 1), ("0", 2), ("yes", 0), ("", 3)])
def test_failures_are_filtered_by_whether_the_job_is_retried(admin_client: Client, is_final, count):
    for number, end in enumerate([True, False, False]):
        record_failure(
            "tests.note", f"{number}", 1, RuntimeError("Hot."), None if end else timedelta(60)
        )

    listed = admin_client.get(f"/admin/tasks/taskfailure/?is_final={is_final}").context["cl"]

    assert listed.result_count == count
