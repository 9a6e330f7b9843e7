"""Exports metrics about jobs and chores, and defines the interface through which operators control
the queue.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Protocol, cast

from django.db import DatabaseError, close_old_connections
from django.utils import timezone
from django_tasks import task_backends

from apps.metrics import Gauge, Reading
from apps.tasks.jobs import STATES, Job
from apps.tasks.models import ChoreRun
from apps.tasks.task import Task

logger = logging.getLogger(__name__)


class Queue(Protocol):
    """The methods that both job backends have in addition to those of `django.tasks`."""

    def counts(self) -> dict[str, int]:
        """Return the number of jobs by state. A state without jobs may be missing."""

    def waiting_since(self) -> datetime | None:
        """Return the time when the oldest queued job became due, or None if no job is queued."""

    def enqueue_once(self, task: Task[Any, Any], lock: str, *args: Any) -> None:
        """Enqueue a job, unless one with this lock is already queued. Only one job with a lock runs
        at a time.
        """

    def retry(self, job: str) -> bool:
        """Retry a failed job. Return False if there is no failed job with this ID."""

    def jobs(self, state: str, kind: str, most: int) -> Sequence[Job]:
        """Return up to `most` jobs of a kind in a state. Queued jobs are in the order in which they
        will run; all others are sorted newest first.
        """

    def cancel(self, job: str) -> Job | None:
        """Delete a queued or failed job, or end a running one. Return the job, or None if it does
        not exist.
        """

    def resume(self, kind: str) -> bool:
        """End the pause of a kind. Return False if it was not paused."""

    def delete_failed(self, before: datetime) -> int:
        """Delete failed jobs that were enqueued before this time. Return their number."""


def queue() -> Queue:
    return cast("Queue", task_backends["default"])


def jobs() -> Iterator[Reading]:
    counts = dict.fromkeys(STATES, 0) | queue().counts()
    for state, count in counts.items():
        yield (state,), count


def oldest() -> Iterator[Reading]:
    since = queue().waiting_since()
    yield (), 0 if since is None else (timezone.now() - since).total_seconds()


def chore_times() -> Iterator[Reading]:
    for work, started_at in ChoreRun.objects.values_list("work", "started_at"):
        yield (work,), started_at.timestamp()


def chore_seconds() -> Iterator[Reading]:
    for work, seconds in ChoreRun.objects.values_list("work", "seconds"):
        yield (work,), seconds


def reading(read: Callable[[], Iterator[Reading]]) -> Callable[[], Iterator[Reading]]:
    """Decorate a function that reads metrics, so that it yields nothing while the database is down.
    The decorated function always releases the thread's connection.
    """

    def readings() -> Iterator[Reading]:
        try:
            yield from list(read())
        except DatabaseError as error:
            logger.warning("Failed to count jobs for the metrics: %s", error)
        finally:
            close_old_connections()  # OpenTelemetry calls the function on its own thread.

    return readings


GAUGES = (
    Gauge("quickapps_jobs", "Jobs of the task queue.", reading(jobs), ("state",)),
    Gauge(
        "quickapps_oldest_job_seconds",
        "The time since the oldest job that no worker has started became due.",
        reading(oldest),
    ),
    Gauge(
        "quickapps_chore_last_run_timestamp_seconds",
        "The time of the last run of each chore.",
        reading(chore_times),
        ("chore",),
    ),
    Gauge(
        "quickapps_chore_last_run_seconds",
        "The duration of the last run of each chore.",
        reading(chore_seconds),
        ("chore",),
    ),
)
