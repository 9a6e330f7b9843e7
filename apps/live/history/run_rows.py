"""Writes and deletes the summaries of runs, and marks the runs of dead processes as failed.

All functions are synchronous and short, and run on a database thread.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import TruncHour
from django.utils import timezone

from apps import tracing
from apps.accounts.legal_holds import holds
from apps.agent.events import ModelUsage
from apps.agent.ledger import Step
from apps.agent.progress import Progress
from apps.agent.steps.results import read_outcome, read_reply
from apps.insights import rollups
from apps.insights.sums import OF_USERS, RunCount
from apps.live.events import storable_value
from apps.live.listeners import RunNews, notify_listeners
from apps.live.models import Run
from apps.live.run_summary import LONGEST_BUCKET, LONGEST_NAME, RunSummary
from apps.live.step_ledger import read_steps
from apps.old_rows import delete_older

SILENT_SECONDS = 300.0
"""A process without a heartbeat for this many seconds counts as dead. Heartbeats are sent once a
minute.
"""
MOST = models.BigIntegerField.MAX_BIGINT
CHANGED = (
    "status",
    "seen_at",
    "seconds",
    "model_calls",
    "tool_calls",
    "prompt_tokens",
    "completion_tokens",
    "error_reference",
)
COLUMNS = ("id", "door", "application", "bucket", "request_id", "started_at", *CHANGED)


@dataclass(slots=True)
class RunFigures:
    """The values of a `RunSummary` row. Creating this object is ten times faster than creating a
    model instance.
    """

    door: str
    application: str
    bucket: str
    team: int | None = None
    status: str = RunSummary.Status.RUNNING
    error_reference: str = ""
    request_id: str = field(default_factory=tracing.request_id)
    id: UUID = field(default_factory=lambda: UUID(int=random.getrandbits(128), version=4))
    """The run's ID. It is not a secret, so it needs no cryptographic random numbers."""
    started_at: datetime = field(default_factory=partial(datetime.now, UTC))
    ended_at: datetime | None = None
    model_calls: int = 0
    tool_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_stored: bool = False
    """True once the start of the run has been written."""

    def end(self, status: str, progress: Progress, reference: str = "") -> None:
        self.status, self.error_reference = status, reference
        self.ended_at = datetime.now(UTC)
        # Only counts are copied. A row that is waiting for the database must not keep the
        # conversation in memory.
        self.model_calls, self.tool_calls = progress.counts.iterations, progress.counts.tool_calls
        for one in progress.usage:
            self.prompt_tokens += one.input
            self.completion_tokens += one.output


def write(rows: Sequence[RunFigures]) -> None:
    """Insert or update the rows, and notify listeners of the runs that have ended."""
    names, places = ", ".join(COLUMNS), ", ".join(["%s"] * len(COLUMNS))
    changes = ", ".join(f"{name} = excluded.{name}" for name in CHANGED)
    statement = (
        f"INSERT INTO {RunSummary._meta.db_table} ({names}) VALUES ({places}) "  # noqa: S608 - no values
        f"ON CONFLICT (id) DO UPDATE SET {changes}"
    )
    now = timezone.now()
    # `bulk_create` takes ten times as long, and each request has a row.
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.executemany(statement, [values_of(row, now) for row in rows])
        notify_listeners(
            RunNews(row.id, row.door, row.application, row.bucket, row.status)
            for row in rows
            if row.ended_at is not None
        )


def values_of(row: RunFigures, now: datetime) -> tuple[Any, ...]:
    """Return the values of `COLUMNS`, with long names truncated."""
    adapted, end = connection.ops.adapt_datetimefield_value, row.ended_at
    seconds = None if end is None else max((end - row.started_at).total_seconds(), 0.0)
    return (
        row.id.hex,
        row.door,
        storable_value(row.application)[:LONGEST_NAME],
        storable_value(row.bucket)[:LONGEST_BUCKET],
        row.request_id,
        adapted(row.started_at),
        row.status,
        adapted(end or now),
        seconds,
        row.model_calls,
        row.tool_calls,
        within_limits(row.prompt_tokens),
        within_limits(row.completion_tokens),
        row.error_reference,
    )


def within_limits(count: int) -> int:
    """Limit the count to the column's range, because services can report any number."""
    return min(max(count, 0), MOST)


def figures_of(run: Run, status: str, progress: Progress, reference: str = "") -> RunFigures:
    """Return the summary of a stored run that ends with this status. `reference` identifies the
    run's error in the log, or is "".
    """
    row = RunFigures(
        run.door,
        run.application,
        run.bucket,
        request_id=run.request_id,
        id=run.pk,
        started_at=run.started_at,
    )
    row.end(status, progress, reference)
    return row


def recorded_progress(run: Run) -> Progress:
    """Compute the counts and usage of a run from its recorded steps."""
    return progress_of_steps(read_steps(run))


def usage_of_steps(steps: Iterable[Step]) -> list[ModelUsage]:
    return progress_of_steps(steps).usage


def progress_of_steps(steps: Iterable[Step]) -> Progress:
    progress = Progress()
    for step in steps:
        if (
            step.status == "done" and "/" not in step.key
        ):  # The result of a step includes its nested steps.
            with suppress(msgspec.ValidationError):  # Code of another version may have written it.
                add_step(progress, step)
    return progress


def add_step(progress: Progress, step: Step) -> None:
    if step.kind == "model":
        progress.counts.iterations += 1
        progress.usage += read_reply(step.result).reply.usage
    elif step.kind == "tool":
        outcome = read_outcome(step.result)
        progress.counts.tool_calls += 1
        progress.usage += (*outcome.result.usage, *outcome.spent)


def stop(stream: UUID) -> None:
    """Write summaries with the status `stopped` for the stream's open runs, before the stream is
    deleted.
    """
    rows = [
        figures_of(run, RunSummary.Status.STOPPED, recorded_progress(run))
        for run in Run.objects.filter(stream=stream, status__in=Run.OPEN)
    ]
    if rows:
        write(rows)


def end_abandoned() -> int:
    """Mark the runs of dead processes as failed, and return their number."""
    before = timezone.now() - timedelta(seconds=SILENT_SECONDS)
    running = RunSummary.objects.filter(status=RunSummary.Status.RUNNING)
    return running.filter(seen_at__lt=before).update(status=RunSummary.Status.FAILED)


def delete_old() -> int:
    """Delete the rows that are older than `RUN_ROWS_DAYS`, unless they are under a legal hold.
    Return the number of deleted rows.
    """
    in_held = Run.objects.filter(holds(conversation="stream"), pk=OuterRef("pk"))
    held = holds("bucket") | Q(Exists(in_held))
    return delete_older(RunSummary, "started_at", settings.RUN_ROWS_DAYS, but=held)


def count_runs(since: datetime, until: datetime) -> Iterator[RunCount]:
    """Yield the number of runs that began in each hour of the time range, by application, bucket
    and door. Test messages in the studio do not count: they are not runs of users.
    """
    began = RunSummary.objects.filter(started_at__gte=since, started_at__lt=until).order_by()
    grouped = (
        began.filter(OF_USERS)
        .annotate(hour=TruncHour("started_at"))
        .values_list("hour", "application", "bucket", "door")
    )
    failed = Count("pk", filter=Q(status=RunSummary.Status.FAILED))
    for row in grouped.annotate(runs=Count("pk"), failed=failed):
        yield RunCount(*row)


def sum_up_usage() -> int:
    """Sum up the usage in all time spans that have ended. Return the number of time spans."""
    return rollups.sum_up_all(count_runs)
