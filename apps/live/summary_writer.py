"""Writes the rows of runs that nobody keeps, and of the calls of all runs, once a second for all of
the process.

A run only appends to a list; nothing waits for the database, and what it refuses fails no run.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.agent.progress import Progress
from apps.insights import rows as calls
from apps.insights.meter import UNLIMITED, Budgets, Entry, KeptRequest, RunMeter
from apps.live import audit_events, sent_requests, summaries
from apps.live.database import Execute
from apps.live.row_queue import RowQueue, RowWriter
from apps.live.run_summary import RunSummary
from apps.live.summaries import RunFigures
from apps.runs.failures import reference_of

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0
BEAT_SECONDS = 60.0
PAUSE_SECONDS = 5.0
"""Before the next attempt while the database is away."""
MOST_WAITING = 10_000
"""Rows of runs that are over and not written, and of calls; some 10 MB each. More are dropped."""
AT_ONCE = 500
"""Rows in one statement, so that nobody else who writes waits for long."""
REQUESTS_AT_ONCE = 50
"""Requests in one transaction: each has many parts."""
MOST_REQUEST_BYTES = 64 * 1024 * 1024
"""Of the requests to models that wait. More are dropped."""

Status = RunSummary.Status


class SummaryWriter:
    """Its task lives as long as there are runs.

    A run that goes on at the next tick is written as begun, so that one whose process dies ends as
    failed; most are over by then, and are written once.
    """

    def __init__(self, execute: Execute, budgets: Budgets = UNLIMITED) -> None:
        self.execute = execute
        self.budgets = budgets
        self.going: dict[UUID, RunFigures] = {}
        self.over: list[RunFigures] = []
        self.dropped = 0
        self.runs = RowWriter[RunFigures]("runs", summaries.write)
        self.calls = RowQueue[Entry]("calls", calls.write, most=MOST_WAITING, at_once=AT_ONCE)
        self.audit = RowQueue[AuditEvent](
            "audit events", audit.write, most=MOST_WAITING, at_once=AT_ONCE
        )
        self.requests = RowQueue[KeptRequest](
            "requests to models",
            sent_requests.write,
            most=MOST_WAITING,
            at_once=REQUESTS_AT_ONCE,
            size_of=lambda kept: len(kept.request.body),
            most_bytes=MOST_REQUEST_BYTES,
        )
        self.beat_at = 0.0
        # asyncio itself holds tasks by weak references only.
        self.task: asyncio.Task[None] | None = None
        self.flushing: asyncio.Task[None] | None = None

    @contextmanager
    def recorded(self, row: RunFigures) -> Iterator[Progress]:
        """Record the run that the block is; it counts in what it is given."""
        self.going[row.id] = row
        self.begin()
        meter = RunMeter(
            self.keep,
            row.door,
            row.bucket,
            row.id,
            budgets=self.budgets,
            team=row.team,
            keep_request=self.keep_request if settings.MODEL_REQUESTS == "all" else None,
        )
        progress = Progress(meter=meter)
        try:
            yield progress
            row.end(Status.DONE, progress)
        except Exception as error:
            reference = reference_of(error)
            # What is the request's own fault has no reference.
            row.end(Status.FAILED if reference else Status.REFUSED, progress, reference)
            raise
        except BaseException:
            row.end(Status.STOPPED, progress)
            raise
        finally:
            self.take(row)

    def begin(self) -> None:
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self.work())

    def keep(self, entry: Entry) -> None:
        """Take the report of a call."""
        if self.calls.add(entry):
            self.begin()
        for event in audit_events.of_call(entry):
            self.keep_audit(event)

    def keep_request(self, kept: KeptRequest) -> None:
        if self.requests.add(kept):
            self.begin()

    def keep_audit(self, *events: AuditEvent) -> None:
        if settings.AUDIT:
            for event in events:
                if self.audit.add(event):
                    self.begin()

    @property
    def queues(self) -> Sequence[RowQueue[Any]]:
        return (self.calls, self.requests, self.audit)

    def take(self, row: RunFigures) -> None:
        """Take a row that is over."""
        del self.going[row.id]
        if len(self.over) < MOST_WAITING:
            self.over.append(row)
        else:
            self.dropped += 1

    async def work(self) -> None:
        while self.going or self.over or any(queue.rows for queue in self.queues):
            await asyncio.sleep(TICK_SECONDS)
            self.flushing = asyncio.create_task(self.flush())
            try:
                # Cut off, it would not know what is written, and rows of calls would come twice.
                await asyncio.shield(self.flushing)
            except (OperationalError, InterfaceError) as error:
                logger.warning("The rows of runs wait: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Write what is there; the process ends."""
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task
        if self.flushing is not None:
            with suppress(OperationalError, InterfaceError):
                await self.flushing
        try:
            await self.flush()
        except (OperationalError, InterfaceError) as error:
            logger.warning(
                "The rows of %d runs and of %d calls are lost: %s",
                len(self.over),
                len(self.calls.rows),
                error,
            )

    async def flush(self) -> None:
        """Write the rows of the runs that are over or that began. Raises `OperationalError`,
        `InterfaceError`; everything is still to be written then."""
        self.log_dropped()
        for queue in self.queues:
            await queue.flush(self.execute)
        await self.write_runs()
        if time.monotonic() - self.beat_at >= BEAT_SECONDS:
            await self.beat()

    def log_dropped(self) -> None:
        if dropped := self.dropped + sum(queue.dropped for queue in self.queues):
            logger.warning("%d rows of runs and calls were dropped: too many wait", dropped)
            self.dropped = 0
            for queue in self.queues:
                queue.dropped = 0

    async def write_runs(self) -> None:
        while some := self.over[:AT_ONCE]:
            async for done in self.runs.write(some, self.execute):
                del self.over[:done]
        for some in in_portions([row for row in self.going.values() if not row.is_stored]):
            async for _ in self.runs.write(some, self.execute):
                pass
            for row in some:
                row.is_stored = True

    async def beat(self) -> None:
        """Say that the process is alive, with which its runs go on."""
        self.beat_at = time.monotonic()
        for some in in_portions(list(self.going)):
            rows = RunSummary.objects.filter(pk__in=some, status=Status.RUNNING)
            await self.execute(partial(rows.update, seen_at=timezone.now()))


def in_portions(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]
