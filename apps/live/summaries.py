"""Rows of runs in the database: written when runs end, given up with their process, deleted by age.

These functions are synchronous and short: they run on a database thread.
"""

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone

from apps.agent.events import ModelUsage
from apps.agent.ledger import Step
from apps.agent.progress import Progress
from apps.agent.step_results import read_outcome, read_reply
from apps.live.events import storable
from apps.live.listeners import RunNews, tell
from apps.live.models import Run
from apps.live.run_summary import LONGEST_BUCKET, LONGEST_NAME, RunSummary
from apps.live.step_ledger import read_steps
from apps.old_rows import delete_older

SILENT_SECONDS = 300.0
"""A process that has said nothing of its runs for so long is gone; it does so every minute."""
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
COLUMNS = ("id", "door", "application", "bucket", "started_at", *CHANGED)


@dataclass(slots=True)
class RunFigures:
    """The values of a `RunSummary`; an instance of the model takes ten times as long.

    `is_stored`: there is a row, which says at least that the run has begun.
    """

    door: str
    application: str
    bucket: str
    team: int | None = None
    status: str = RunSummary.Status.RUNNING
    error_reference: str = ""
    id: UUID = field(default_factory=lambda: UUID(int=random.getrandbits(128), version=4))
    """Tells rows apart and keeps no secret, so the system need not be asked for randomness."""
    started_at: datetime = field(default_factory=partial(datetime.now, UTC))
    ended_at: datetime | None = None
    model_calls: int = 0
    tool_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_stored: bool = False

    def end(self, status: str, progress: Progress, reference: str = "") -> None:
        self.status, self.error_reference = status, reference
        self.ended_at = datetime.now(UTC)
        # Not the progress itself: it holds the conversation, and rows may wait for the database.
        self.model_calls, self.tool_calls = progress.iterations, progress.tool_calls
        for one in progress.usage:
            self.prompt_tokens += one.input
            self.completion_tokens += one.output


def write(rows: Sequence[RunFigures]) -> None:
    """Insert the rows, or update those that are there; tell listeners of runs that are over."""
    names, places = ", ".join(COLUMNS), ", ".join(["%s"] * len(COLUMNS))
    changes = ", ".join(f"{name} = excluded.{name}" for name in CHANGED)
    statement = (
        f"INSERT INTO {RunSummary._meta.db_table} ({names}) VALUES ({places}) "  # noqa: S608 - no values
        f"ON CONFLICT (id) DO UPDATE SET {changes}"
    )
    now = timezone.now()
    # Not `bulk_create`, which takes ten times as long: there is one row for each request.
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.executemany(statement, [values_of(row, now) for row in rows])
        tell(
            RunNews(row.id, row.door, row.application, row.bucket, row.status)
            for row in rows
            if row.ended_at is not None
        )


def values_of(row: RunFigures, now: datetime) -> tuple[Any, ...]:
    """The values of `COLUMNS`; names that do not fit are cut."""
    adapted, end = connection.ops.adapt_datetimefield_value, row.ended_at
    seconds = None if end is None else max((end - row.started_at).total_seconds(), 0.0)
    return (
        row.id.hex,
        row.door,
        storable(row.application)[:LONGEST_NAME],
        storable(row.bucket)[:LONGEST_BUCKET],
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
    """A count as the database takes it: services report what they like."""
    return min(max(count, 0), MOST)


def figures_of(run: Run, status: str, progress: Progress, reference: str = "") -> RunFigures:
    """The row of a run of the page that is over now."""
    row = RunFigures(
        run.door,
        run.application,
        run.bucket,
        id=run.pk,
        started_at=run.started_at,
    )
    row.end(status, progress, reference)
    return row


def recorded_progress(run: Run) -> Progress:
    """The counts of a run by its recorded steps, for a run that no process works on."""
    return progress_of_steps(read_steps(run))


def usage_of_steps(steps: Iterable[Step]) -> list[ModelUsage]:
    return progress_of_steps(steps).usage


def progress_of_steps(steps: Iterable[Step]) -> Progress:
    progress = Progress()
    for step in steps:
        if step.status == "done" and "/" not in step.key:  # a step's result has those inside of it
            with suppress(msgspec.ValidationError):  # of other code than this
                add_step(progress, step)
    return progress


def add_step(progress: Progress, step: Step) -> None:
    if step.kind == "model":
        progress.iterations += 1
        progress.usage += read_reply(step.result).reply.usage
    elif step.kind == "tool":
        outcome = read_outcome(step.result)
        progress.tool_calls += 1
        progress.usage += (*outcome.result.usage, *outcome.spent)


def stop(stream: UUID) -> None:
    """Write the rows of runs that end because their stream is deleted."""
    rows = [
        figures_of(run, RunSummary.Status.STOPPED, recorded_progress(run))
        for run in Run.objects.filter(stream=stream, status__in=Run.OPEN)
    ]
    if rows:
        write(rows)


def end_abandoned() -> int:
    """Fail the runs whose process is gone; the number of them."""
    before = timezone.now() - timedelta(seconds=SILENT_SECONDS)
    running = RunSummary.objects.filter(status=RunSummary.Status.RUNNING)
    return running.filter(seen_at__lt=before).update(status=RunSummary.Status.FAILED)


def delete_old() -> int:
    """Delete the rows that are older than `RUN_ROWS_DAYS`; the number of them."""
    return delete_older(RunSummary, "started_at", settings.RUN_ROWS_DAYS)
