"""Writes the events and steps of a process's runs, one transaction at a time.

Failed transactions are repeated with the same data until they succeed, so nothing is lost or
duplicated. While the database is down, events stay in memory.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from apps.errors import LeaseLost, NotStored
from apps.live.database import Execute
from apps.live.journal import commits
from apps.live.journal.commits import Portion, RunSignals
from apps.live.journal.notifications import announce_events
from apps.live.journal.run_record import RunRecord

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.25
CHECK_SECONDS = 1.0
"""The interval in seconds at which a process checks whether its runs must stop."""
ANNOUNCE_SECONDS = 1.0
"""The timeout in seconds for announcing new events. If it expires, other processes find the events
in the journal later.
"""
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


class Committer:
    """Writes the journals of this process's runs in a task that exists only while there are active
    runs. `holder` is the name of the process.
    """

    def __init__(self, holder: str, execute: Execute, hold: Callable[[Any], object]) -> None:
        self.holder = holder
        self.execute = execute
        self.hold = hold
        self.records: set[RunRecord] = set()
        self.urgent = asyncio.Event()
        self.is_working = False
        self.committed_at = self.checked_at = 0.0
        self.pause = FIRST_PAUSE_SECONDS

    def add(self, record: RunRecord) -> None:
        record.hurry = self.urgent.set
        self.records.add(record)
        if not self.is_working:
            self.is_working = True
            self.hold(self.work())

    def remove(self, record: RunRecord) -> None:
        self.records.discard(record)
        self.urgent.set()

    async def work(self) -> None:
        try:
            while self.records:
                await self.wait()
                try:
                    await self.tick()
                except Exception as error:
                    logger.exception("Failed to write the output of runs")
                    for record in list(self.records):
                        record.fail(not_stored(error))
        finally:
            self.is_working = False

    async def wait(self) -> None:
        """Wait until the next tick, or until a run needs a commit. Commits are at least one tick
        apart.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(TICK_SECONDS):
                await self.urgent.wait()
        await asyncio.sleep(max(0.0, self.committed_at + TICK_SECONDS - time.monotonic()))
        self.urgent.clear()

    async def tick(self) -> None:
        now = time.monotonic()
        due = [record for record in self.records if record.is_due(now)]
        try:
            if due:
                await self.commit(due)
            if now - self.checked_at >= CHECK_SECONDS:
                await self.check_signals()
        except (OperationalError, InterfaceError) as error:
            await self.wait_for_database(error)
        else:
            self.pause = FIRST_PAUSE_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(ANNOUNCE_SECONDS):
                await asyncio.gather(*(announce_events(record.log) for record in self.records))

    async def commit(self, records: Sequence[RunRecord]) -> None:
        """Write the data of these runs in one transaction. Raises `OperationalError` or
        `InterfaceError` if the database is down.
        """
        self.committed_at = time.monotonic()
        portions = [record.next_portion(self.committed_at) for record in records]
        try:
            lost = await self.execute(partial(commits.write, self.holder, portions))
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("Failed to write the runs together; writing them one by one")
            for record, portion in zip(records, portions, strict=True):
                await self.commit_alone(record, portion)
            return
        self.settle(records, lost)

    async def commit_alone(self, record: RunRecord, portion: Portion) -> None:
        """Write the data of one run, so that a rejected row affects no other run."""
        try:
            lost = await self.execute(partial(commits.write, self.holder, [portion]))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 - the supervisor logs it
            record.fail(not_stored(error))
        else:
            self.settle([record], lost)

    def settle(self, records: Iterable[RunRecord], lost: frozenset[Any]) -> None:
        for record in records:
            if record.log.run in lost:
                record.fail(LeaseLost())
            else:
                record.settle()

    async def check_signals(self) -> None:
        self.checked_at = time.monotonic()
        records = {record.log.run: record for record in self.records if not record.is_over}
        helped = [run for run, record in records.items() if record.has_subagents]
        read = partial(commits.read_signals, self.holder, records.keys(), helped)
        signals: RunSignals = await self.execute(read) if records else RunSignals()
        for run in signals.stopped:
            records[run].stop()
        for run, keys in signals.subagents.items():
            for key in keys:
                records[run].stop_subagent(key)
        for run in signals.lost:
            if not records[run].is_over and records[run].ending is None:
                records[run].fail(LeaseLost())

    async def wait_for_database(self, error: Exception) -> None:
        logger.warning("Failed to write the journal; trying again: %s", error)
        now = time.monotonic()
        for record in list(self.records):
            if now + self.pause - record.beat_at > settings.RUN_LEASE_SECONDS:
                record.fail(not_stored(error))
        await asyncio.sleep(self.pause)
        self.pause = min(self.pause * 2, LONGEST_PAUSE_SECONDS)


def not_stored(cause: Exception) -> NotStored:
    error = NotStored()
    error.__cause__ = cause
    return error
