"""Writes a process's queued run summaries, calls, model requests and audit events once a second.

A run only queues rows. It does not wait for the database, and a rejected row does not make the run
fail.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.agent.meter import ToolCallReport
from apps.agent.progress import Progress
from apps.insights import call_rows as calls
from apps.insights.meter import UNLIMITED, Budgets, CallEntry, KeptRequest, RunMeter
from apps.live.database import Execute
from apps.live.history import run_rows, sent_requests
from apps.live.history.run_rows import RunFigures
from apps.live.run_summary import RunSummary
from apps.runs.failures import reference_of

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0
BEAT_SECONDS = 60.0
PAUSE_SECONDS = 5.0
"""The pause in seconds between attempts while the database is down."""
MOST_WAITING = 10_000
"""The maximum number of rows in a queue, about 10 MB. Further rows are dropped."""
AT_ONCE = 500
"""The maximum number of rows per statement, so that other writers do not have to wait long."""
REQUESTS_AT_ONCE = 50
"""The maximum number of model requests per transaction, because each has many parts."""
MOST_REQUEST_BYTES = 64 * 1024 * 1024
"""The maximum size of all queued model requests in bytes. Further requests are dropped."""

Status = RunSummary.Status
Row = TypeVar("Row")


class RowWriter(Generic[Row]):
    """Writes rows in batches. If the database rejects a batch, its rows are written one by one, and
    rejected rows are dropped.

    `store` stores all rows of a batch or none. `refused` counts rejected rows by error type.
    """

    def __init__(self, name: str, store: Callable[[Sequence[Row]], object]) -> None:
        self.name = name
        self.store = store
        self.refused: Counter[str] = Counter()

    async def write(self, rows: Sequence[Row], execute: Execute) -> AsyncIterator[int]:
        """Write the rows in order. After each statement, yield the number of rows that were written
        or dropped.

        Raises `OperationalError` or `InterfaceError` if the database is down, without writing the
        remaining rows.
        """
        try:
            await execute(partial(self.store, rows))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 - logged by kind
            if len(rows) > 1:
                for row in rows:
                    async for done in self.write([row], execute):
                        yield done
                return
            self.refuse(error)
        yield len(rows)

    def refuse(self, error: Exception) -> None:
        kind = type(error).__name__
        self.refused[kind] += 1
        count = self.refused[kind]
        if count == 1:
            logger.error("A row of %s was rejected and is lost", self.name, exc_info=error)
        elif count & (count - 1) == 0:  # Log each time the number doubles.
            logger.error("%d rows of %s were rejected and are lost: %s", count, self.name, kind)


class RowQueue(Generic[Row]):
    """A queue of up to `most` rows and `most_bytes` bytes. Further rows are dropped and counted in
    `dropped`.

    `store` is called with up to `at_once` rows, and must store all of them or none.
    """

    def __init__(
        self,
        name: str,
        store: Callable[[Sequence[Row]], object],
        *,
        most: int,
        at_once: int,
        size_of: Callable[[Row], int] = lambda row: 0,
        most_bytes: int = 0,
    ) -> None:
        self.writer = RowWriter(name, store)
        self.most, self.at_once = most, at_once
        self.size_of, self.most_bytes = size_of, most_bytes
        self.rows: list[Row] = []
        self.bytes = 0
        self.dropped = 0

    def add(self, row: Row) -> bool:
        """Queue a row. Return False if it was dropped because the queue is full."""
        size = self.size_of(row)
        if len(self.rows) >= self.most or self.bytes + size > self.most_bytes > 0:
            self.dropped += 1
            return False
        self.rows.append(row)
        self.bytes += size
        return True

    async def flush(self, execute: Execute) -> None:
        """Write all queued rows. Raises `OperationalError` or `InterfaceError` if the database is
        down, with the remaining rows still queued.
        """
        while some := self.rows[: self.at_once]:
            async for done in self.writer.write(some, execute):
                self.bytes -= sum(map(self.size_of, self.rows[:done]))
                del self.rows[:done]


class RunSummaryWriter:
    """Writes queued rows in a task that exists only while there are queued rows or active runs.

    A run that is still active at the next write is first written as running. If its process then
    dies, another process can mark it as failed. Most runs end earlier and are written once.
    """

    def __init__(self, execute: Execute, budgets: Budgets = UNLIMITED) -> None:
        self.execute = execute
        self.budgets = budgets
        self.active: dict[UUID, RunFigures] = {}
        self.ended: list[RunFigures] = []
        self.dropped = 0
        self.runs = RowWriter[RunFigures]("runs", run_rows.write)
        self.calls = RowQueue[CallEntry]("calls", calls.write, most=MOST_WAITING, at_once=AT_ONCE)
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
        # asyncio holds only weak references to tasks.
        self.task: asyncio.Task[None] | None = None
        self.flushing: asyncio.Task[None] | None = None

    @contextmanager
    def recorded(self, row: RunFigures) -> Iterator[Progress]:
        """Record the block as a run. The block must count its calls in the `Progress` that it
        receives.
        """
        self.active[row.id] = row
        self.begin()
        meter = RunMeter(
            self.queue_call,
            row.door,
            row.bucket,
            row.id,
            budgets=self.budgets,
            team=row.team,
            keep_request=self.queue_request if settings.MODEL_REQUESTS == "all" else None,
        )
        progress = Progress(meter=meter)
        try:
            yield progress
            row.end(Status.DONE, progress)
        except Exception as error:
            reference = reference_of(error)
            # Errors that the request itself caused have no reference.
            row.end(Status.FAILED if reference else Status.REFUSED, progress, reference)
            raise
        except BaseException:
            row.end(Status.STOPPED, progress)
            raise
        finally:
            self.queue_run(row)

    def forget(self) -> None:
        """Drop all queued rows without writing them."""
        self.active.clear()
        self.ended.clear()
        for queue in self.queues:
            queue.rows.clear()
        self.task = self.flushing = None

    def begin(self) -> None:
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self.work())

    def queue_call(self, entry: CallEntry) -> None:
        """Queue a call's row and its audit events."""
        if self.calls.add(entry):
            self.begin()
        for event in audit_events_of(entry):
            self.queue_audit(event)

    def queue_request(self, kept: KeptRequest) -> None:
        if self.requests.add(kept):
            self.begin()

    def queue_audit(self, *events: AuditEvent) -> None:
        for event in events:
            if self.audit.add(event):
                self.begin()

    @property
    def queues(self) -> Sequence[RowQueue[Any]]:
        return (self.calls, self.requests, self.audit)

    def queue_run(self, row: RunFigures) -> None:
        """Queue an ended run's row."""
        del self.active[row.id]
        if len(self.ended) < MOST_WAITING:
            self.ended.append(row)
        else:
            self.dropped += 1

    async def work(self) -> None:
        while self.active or self.ended or any(queue.rows for queue in self.queues):
            await asyncio.sleep(TICK_SECONDS)
            self.flushing = asyncio.create_task(self.flush())
            try:
                # A canceled flush would not know which rows were written, and would write some of
                # them twice.
                await asyncio.shield(self.flushing)
            except (OperationalError, InterfaceError) as error:
                logger.warning("Failed to write rows of runs; trying again: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Write all queued rows before the process ends."""
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
                "Lost the rows of %d runs and %d calls: %s",
                len(self.ended),
                len(self.calls.rows),
                error,
            )

    async def flush(self) -> None:
        """Write all queued rows and renew the heartbeat. Raises `OperationalError` or
        `InterfaceError` if the database is down, with the rows still queued.
        """
        self.log_dropped()
        for queue in self.queues:
            await queue.flush(self.execute)
        await self.write_runs()
        if time.monotonic() - self.beat_at >= BEAT_SECONDS:
            await self.beat()

    def log_dropped(self) -> None:
        if dropped := self.dropped + sum(queue.dropped for queue in self.queues):
            logger.warning("Dropped %d rows of runs and calls: the queue is full", dropped)
            self.dropped = 0
            for queue in self.queues:
                queue.dropped = 0

    async def write_runs(self) -> None:
        while some := self.ended[:AT_ONCE]:
            async for done in self.runs.write(some, self.execute):
                del self.ended[:done]
        for some in in_portions([row for row in self.active.values() if not row.is_stored]):
            async for _ in self.runs.write(some, self.execute):
                pass
            for row in some:
                row.is_stored = True

    async def beat(self) -> None:
        """Renew the heartbeat in the rows of the active runs."""
        self.beat_at = time.monotonic()
        for some in in_portions(list(self.active)):
            rows = RunSummary.objects.filter(pk__in=some, status=Status.RUNNING)
            await self.execute(partial(rows.update, seen_at=timezone.now()))


def in_portions(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]


def audit_events_of(entry: CallEntry) -> Iterator[AuditEvent]:
    """Yield the audit event of a tool call in a conversation. Calls by API clients have none,
    because the call's row contains the same data.
    """
    of, report = entry.of, entry.report
    if of.conversation is not None and isinstance(report, ToolCallReport):
        yield AuditEvent(
            "tool.executed",
            of.bucket,
            application=of.application,
            conversation=of.conversation,
            run=of.run,
            subject=report.tool,
            at=entry.ended_at,
        )
