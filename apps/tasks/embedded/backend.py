"""Stores jobs as rows, in the transaction that enqueues them."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Min, OuterRef, QuerySet, Value
from django.utils import timezone
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import TaskResult

from apps.listeners import Listeners
from apps.tasks.jobs import Job
from apps.tasks.kinds import ALL, delete_pause, kind_of, of_kind
from apps.tasks.models import PausedKind, QueuedJob
from apps.tasks.task import Task, result_of

enqueued: Listeners[[], None] = Listeners("new jobs")


class EmbeddedBackend(BaseTaskBackend):
    task_class = Task  # type: ignore[assignment]  # it has additional options
    supports_defer = supports_async_task = supports_priority = True

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> TaskResult[Any]:
        self.validate_task(task)
        row = QueuedJob.objects.create(
            task=task.key,
            arguments={"args": list(args), "kwargs": dict(kwargs)},
            priority=task.priority,
            run_after=task.run_after or timezone.now(),
        )
        transaction.on_commit(enqueued.notify)
        return result_of(task, str(row.pk), args, kwargs)

    def counts(self) -> dict[str, int]:
        rows = QueuedJob.objects.order_by().values_list("status").annotate(Count("pk"))
        counts, held = dict(rows), paused().count()
        waiting = counts.pop("ready", 0) - held
        return counts | {state: n for state, n in (("ready", waiting), ("paused", held)) if n}

    def waiting_since(self) -> datetime | None:
        due = unpaused().filter(run_after__lte=timezone.now())
        first: datetime | None = due.aggregate(first=Min("run_after"))["first"]
        return first

    def enqueue_once(self, task: Task[Any, Any], lock: str, *args: Any) -> None:
        arguments = {"args": list(args), "kwargs": {}}
        with suppress(IntegrityError), transaction.atomic():
            QueuedJob.objects.create(
                task=task.key, arguments=arguments, lock=lock, priority=task.priority
            )
        transaction.on_commit(enqueued.notify)

    def retry(self, job: str) -> bool:
        failed = QueuedJob.objects.filter(pk=job, status=QueuedJob.Status.FAILED)
        is_found = bool(
            failed.update(status=QueuedJob.Status.READY, attempts=0, run_after=timezone.now())
        )
        transaction.on_commit(enqueued.notify)
        return is_found

    def jobs(self, state: str, kind: str, most: int) -> Sequence[Job]:
        if state in ("ready", "paused"):
            rows = paused() if state == "paused" else unpaused()
            rows = rows.order_by("run_after", "pk")
        else:
            rows = QueuedJob.objects.filter(status=state).order_by("-pk")
        return [job_of(row, state) for row in rows.filter(of_kind(kind))[:most]]

    def cancel(self, job: str) -> Job | None:
        """Delete and return the job, or return None if it does not exist. A worker that is running
        the job then cancels it.
        """
        row = QueuedJob.objects.filter(pk=job).first()
        if row is None or not QueuedJob.objects.filter(pk=job, status=row.status).delete()[0]:
            return None
        transaction.on_commit(enqueued.notify)
        return job_of(row, row.status)

    def resume(self, kind: str) -> bool:
        was_paused = delete_pause(kind)
        transaction.on_commit(enqueued.notify)
        return was_paused

    def delete_failed(self, before: datetime) -> int:
        failed = QueuedJob.objects.filter(status=QueuedJob.Status.FAILED, enqueued_at__lt=before)
        return failed.delete()[0]


def waiting() -> QuerySet[QueuedJob]:
    return QueuedJob.objects.filter(status=QueuedJob.Status.READY)


def paused() -> QuerySet[QueuedJob]:
    """Return the queued jobs of paused kinds."""
    return waiting().filter(Exists(pauses()))


def unpaused() -> QuerySet[QueuedJob]:
    """Return the queued jobs of kinds that are not paused, even if they are not due."""
    return waiting().exclude(Exists(pauses()))


def pauses() -> QuerySet[PausedKind]:
    """Return a subquery for the pauses that apply to a job. Without the subquery, an idle process
    would run one more statement for each check.
    """
    kinds = (Value(ALL), OuterRef("lock"), OuterRef("task"))
    return PausedKind.objects.filter(kind__in=kinds)


def job_of(row: QueuedJob, state: str) -> Job:
    return Job(
        str(row.pk),
        row.task,
        kind_of(row.task, row.lock),
        state,
        row.arguments["args"],
        row.arguments["kwargs"],
        row.attempts,
        row.enqueued_at,
        row.started_at,
        row.run_after,
    )
