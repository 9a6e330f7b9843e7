"""Runs the jobs in this app's own tables. A job starts at once if its own process enqueued it."""

import asyncio
import logging
import math
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from cronsim import CronSim
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from apps import tracing
from apps.outages import Pauses
from apps.tasks.chore_task import enqueue_chore
from apps.tasks.embedded.backend import enqueued, unpaused
from apps.tasks.failures import give_up, record_failure, record_lost
from apps.tasks.models import ChoreRun, QueuedJob
from apps.tasks.running import GRACE_SECONDS, JOBS_AT_ONCE, JobThreads
from apps.tasks.task import all_chores, find_task

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
"""A running job counts as lost if its lease has not been renewed for this long."""
LONGEST_CHECK_SECONDS = 20.0
"""The maximum interval in seconds between checks for jobs that other processes, such as commands,
have enqueued.
"""
LEASES_SECONDS = 15.0
"""The minimum interval in seconds between renewals of leases and releases of lost jobs."""


class EmbeddedWorker:
    """Runs jobs in the event loop and the threads of the process that serves requests."""

    def __init__(self) -> None:
        self.threads = JobThreads()
        self.running: dict[int, asyncio.Task[None]] = {}
        self.news = asyncio.Event()
        self.next_chores: dict[str, datetime] = {}
        self.leases_due = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(self.news.set)

        enqueued.connect(wake)
        pauses = Pauses(1.0)
        try:
            while True:
                self.news.clear()
                try:
                    seconds = await self.start_due()
                except Exception as error:
                    pauses.note(error)
                    trace = None if isinstance(error, DatabaseError) else error
                    logger.error("Failed to read jobs: %s", error, exc_info=trace)
                    seconds = pauses.seconds
                else:
                    pauses.note(None)
                # Not `wait_for`: before Python 3.12, it loses a cancellation that arrives together
                # with the notification.
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self.news.wait()
        finally:
            enqueued.disconnect(wake)
            await self.close()

    async def start_due(self) -> float:
        """Start due jobs. Return the number of seconds until the next check."""
        await self.threads.call(self.enqueue_chores, timezone.now())
        if self.running:
            for number in await self.threads.call(canceled, list(self.running)):
                if number in self.running:  # The job may have ended in the meantime.
                    self.running[number].cancel()
        if time.monotonic() >= self.leases_due:
            await self.threads.call(renew, list(self.running))
            await self.threads.call(free_lost)
            self.leases_due = time.monotonic() + LEASES_SECONDS
        rows, due_at = await self.threads.call(claim, JOBS_AT_ONCE - len(self.running))
        for row in rows:
            self.running[row.pk] = asyncio.create_task(self.work(row))
        upcoming = [*self.next_chores.values(), *([due_at] if due_at else ())]
        now = timezone.now()
        seconds = min(((one - now).total_seconds() for one in upcoming), default=math.inf)
        return min(max(seconds, 0.0), LONGEST_CHECK_SECONDS)

    def enqueue_chores(self, now: datetime) -> None:
        """Enqueue the chores that are due. The first call also enqueues missed chores."""
        if not self.next_chores:
            last = dict(ChoreRun.objects.values_list("work", "started_at"))
            self.next_chores = {
                chore.work: next_time(chore.interval, last[chore.work])
                if chore.work in last
                else now
                for chore in all_chores()
            }
        for chore in all_chores():
            if self.next_chores[chore.work] <= now:
                enqueue_chore(chore.work)
                self.next_chores[chore.work] = next_time(chore.interval, now)

    async def work(self, row: QueuedJob) -> None:
        tracing.begin_request(f"job-{row.pk}")
        try:
            await self.run_job(row)
        except DatabaseError as error:
            logger.warning(
                "Failed to store the result of job %s of %s: %s", row.pk, row.task, error
            )
        finally:
            self.running.pop(row.pk, None)
            self.news.set()

    async def run_job(self, row: QueuedJob) -> None:
        """Run a job, and store its outcome. If the job is interrupted, release it for the next
        process.
        """
        arguments = row.arguments
        try:
            function = find_task(row.task).func
            await self.threads.call(function, *arguments["args"], **arguments["kwargs"])
        except asyncio.CancelledError:
            await asyncio.shield(self.threads.call(release, row))
            raise
        except Exception as error:  # noqa: BLE001 - it is recorded
            await self.threads.call(settle_failure, row, error)
        else:
            await self.threads.call(QueuedJob.objects.filter(pk=row.pk).delete)

    async def close(self) -> None:
        """Wait up to `GRACE_SECONDS` for running jobs, and interrupt the remaining ones."""
        if self.running:
            await asyncio.wait(self.running.values(), timeout=GRACE_SECONDS)
        left = list(self.running.values())
        for one in left:
            one.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        self.threads.close()


def claim(most: int) -> tuple[list[QueuedJob], datetime | None]:
    """Claim up to `most` due jobs. Return them, and the time at which the next job becomes due, or
    None.
    """
    now, claimed = timezone.now(), list[QueuedJob]()
    for row in due_jobs(now)[:most]:
        taken = {one.lock for one in claimed} - {""}
        mine = QueuedJob.objects.filter(pk=row.pk, status=row.status, attempts=row.attempts)
        held = {"status": QueuedJob.Status.RUNNING, "lease_until": now + LEASE, "started_at": now}
        if row.lock not in taken and mine.update(attempts=F("attempts") + 1, **held):
            row.attempts += 1
            claimed.append(row)
    ready = QueuedJob.objects.filter(status=QueuedJob.Status.READY, run_after__gt=now)
    return claimed, ready.order_by("run_after").values_list("run_after", flat=True).first()


def due_jobs(now: datetime) -> QuerySet[QueuedJob]:
    running = QueuedJob.objects.filter(status=QueuedJob.Status.RUNNING)
    locks = running.filter(lease_until__gte=now).exclude(lock="").values("lock")
    ready = unpaused().filter(run_after__lte=now)
    return ready.exclude(lock__in=locks).order_by("-priority", "run_after", "pk")


def free_lost() -> None:
    """Release the jobs of killed processes, or give up on them if this has happened too often."""
    lost = QueuedJob.objects.filter(status=QueuedJob.Status.RUNNING, lease_until__lt=timezone.now())
    for row in lost:
        with transaction.atomic():
            if record_lost(row.task, str(row.pk), row.attempts):
                release(row)
            else:
                row.status, row.lease_until = QueuedJob.Status.FAILED, None
                row.save(update_fields=("status", "lease_until"))
                give_up(row.task, **row.arguments)


def canceled(jobs: list[int]) -> set[int]:
    """Return the primary keys of the running jobs that an operator has canceled."""
    return set(jobs) - set(QueuedJob.objects.filter(pk__in=jobs).values_list("pk", flat=True))


def renew(jobs: list[int]) -> None:
    QueuedJob.objects.filter(pk__in=jobs).update(lease_until=timezone.now() + LEASE)


def release(row: QueuedJob) -> None:
    """Make a running job available again. If another job with the same lock, and therefore the same
    work, is queued, delete this job instead.
    """
    mine = QueuedJob.objects.filter(pk=row.pk)
    try:
        with transaction.atomic():
            mine.update(status=QueuedJob.Status.READY, lease_until=None)
    except IntegrityError:
        mine.delete()


def next_time(cron: str, after: datetime) -> datetime:
    return next(CronSim(cron, after))


def settle_failure(row: QueuedJob, error: Exception) -> None:
    task = None if isinstance(error, LookupError) else find_task(row.task)
    pause = task.pause_after(row.attempts) if task else None
    record_failure(row.task, str(row.pk), row.attempts, error, pause)
    if pause is None:
        told: dict[str, Any] = {"status": QueuedJob.Status.FAILED}
        give_up(row.task, **row.arguments)
    else:
        told = {"status": QueuedJob.Status.READY, "run_after": timezone.now() + pause}
    QueuedJob.objects.filter(pk=row.pk).update(lease_until=None, **told)
