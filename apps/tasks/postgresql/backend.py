"""Stores jobs with Procrastinate, in the transaction that enqueues them."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import TaskResult
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from procrastinate.exceptions import AlreadyEnqueued

from apps.tasks.jobs import Job
from apps.tasks.kinds import delete_pause, kind_of, of_kind
from apps.tasks.task import Task, result_of

RERUN = "tasks.rerun_lost_jobs"
"""The key of Procrastinate's job that releases lost jobs once a minute. Operators do not see it."""
NAMES = {"todo": "ready", "doing": "running", "failed": "failed"}
QUEUE = "default"
PAUSED_QUEUE = "paused"
"""The queue for jobs whose kind was paused when they became due. No worker reads this queue."""
ENDED = ("failed", "cancelled", "aborted")


class PostgreSQLBackend(BaseTaskBackend):
    task_class = Task  # type: ignore[assignment]  # it has additional options
    supports_defer = supports_async_task = supports_priority = True

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> TaskResult[Any]:
        self.validate_task(task)
        job = app.configure_task(
            task.key, priority=task.priority, schedule_at=task.run_after
        ).defer(args=list(args), kwargs=dict(kwargs))
        return result_of(task, str(job), args, kwargs)

    def counts(self) -> dict[str, int]:
        rows = visible().order_by().values_list("status", "queue_name").annotate(Count("pk"))
        counts = Counter[str]()
        for status, name, count in rows:
            if state := "paused" if name == PAUSED_QUEUE else NAMES.get(status):
                counts[state] += count
        return dict(counts)

    def waiting_since(self) -> datetime | None:
        waiting = ProcrastinateEvent.objects.filter(type="deferred", job__status="todo")
        enqueued = waiting.exclude(job__task_name=RERUN).exclude(job__queue_name=PAUSED_QUEUE)
        due = enqueued.annotate(due_at=Coalesce("job__scheduled_at", "at"))
        found = due.filter(due_at__lte=timezone.now()).aggregate(first=Min("due_at"))
        first: datetime | None = found["first"]
        return first

    def enqueue_once(self, task: Task[Any, Any], lock: str, *args: Any) -> None:
        job = app.configure_task(task.key, priority=task.priority, lock=lock, queueing_lock=lock)
        # Without a savepoint, the error for a job that is already queued would abort the caller's
        # transaction.
        with suppress(AlreadyEnqueued), transaction.atomic():
            job.defer(args=list(args), kwargs={})

    def retry(self, job: str) -> bool:
        if not ProcrastinateJob.objects.filter(pk=job, status="failed").exists():
            return False
        app.job_manager.retry_job_by_id(int(job), retry_at=timezone.now())
        return True

    def jobs(self, state: str, kind: str, most: int) -> Sequence[Job]:
        rows = in_state(state).filter(of_kind(kind, "task_name"))
        order = ("-priority", "pk") if state in ("ready", "paused") else ("-pk",)
        found = rows.order_by(*order).annotate(
            enqueued_at=first_event("deferred"), started_at=last_event("started")
        )
        return [job_of(row, state) for row in found[:most]]

    def cancel(self, job: str) -> Job | None:
        row: Any = visible().filter(pk=job, status__in=(*NAMES,)).first()
        if row is None:
            return None
        if row.status == "failed":
            ProcrastinateJob.objects.filter(pk=job, status="failed").delete()
        elif not app.job_manager.cancel_job_by_id(int(job), abort=True, delete_job=True):
            return None
        row.enqueued_at = row.started_at = None
        return job_of(row, NAMES[row.status])

    def resume(self, kind: str) -> bool:
        """End the pause of a kind, and move its jobs back to the normal queue. The attempt in which
        a job was moved to the paused queue does not count.
        """
        held = ProcrastinateJob.objects.filter(of_kind(kind, "task_name"), queue_name=PAUSED_QUEUE)
        with transaction.atomic():
            is_found = delete_pause(kind)
            held.update(queue_name=QUEUE, attempts=Greatest(F("attempts") - 1, 0))
        return is_found

    def delete_failed(self, before: datetime) -> int:
        ended = visible().filter(status__in=ENDED).alias(enqueued_at=first_event("deferred"))
        old = ended.filter(enqueued_at__lt=before).values("pk")
        return ProcrastinateJob.objects.filter(pk__in=old).delete()[1].get(LABEL, 0)


LABEL = ProcrastinateJob._meta.label


def visible() -> QuerySet[ProcrastinateJob]:
    found: QuerySet[ProcrastinateJob] = ProcrastinateJob.objects.exclude(task_name=RERUN)
    return found


def in_state(state: str) -> QuerySet[ProcrastinateJob]:
    if state == "paused":
        return visible().filter(status="todo", queue_name=PAUSED_QUEUE)
    statuses = [status for status, name in NAMES.items() if name == state]
    return visible().filter(status__in=statuses).exclude(queue_name=PAUSED_QUEUE)


def first_event(type_: str) -> Subquery:
    events = ProcrastinateEvent.objects.filter(job=OuterRef("pk"), type=type_).order_by("pk")
    return Subquery(events.values("at")[:1])


def last_event(type_: str) -> Subquery:
    events = ProcrastinateEvent.objects.filter(job=OuterRef("pk"), type=type_).order_by("-pk")
    return Subquery(events.values("at")[:1])


def job_of(row: Any, state: str) -> Job:
    return Job(
        str(row.pk),
        row.task_name,
        kind_of(row.task_name, row.lock),
        state,
        row.args.get("args", ()),
        row.args.get("kwargs") or {},
        row.attempts - (state == "paused"),  # The attempt that paused the job does not count.
        row.enqueued_at,
        row.started_at,
        row.scheduled_at,
    )
