"""Writes the events of a run to the journal in batches, without slowing the answer down.

A batch is taken from the log once and repeated until it is written, so that a retry neither loses
nor doubles an event. While the database is away, the log grows.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from apps.errors import NotStored
from apps.live import journal, leases
from apps.live.hub import RunLog
from apps.live.journal import Batch, Ending
from apps.live.notifications import announce

logger = logging.getLogger(__name__)

WRITE_EVERY_SECONDS = 0.25
TICK_SECONDS = 1.0
"""How often a silent run looks for a request to stop."""
BATCH_EVENTS = 1_000
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


class JournalWriter:
    """`stop` is called when another process asked for the run to be stopped."""

    def __init__(self, log: RunLog, stop: Callable[[], None]) -> None:
        self.log = log
        self.stop = stop
        self.is_ending = False
        self.tick = TICK_SECONDS
        self.beat_at = time.monotonic()

    def end(self) -> None:
        """Have `keep_writing` write the rest and return."""
        self.is_ending = True
        self.log.urgent.set()
        self.log.grown.set()

    async def keep_writing(self) -> None:
        """Raises `LeaseLost`, and `NotStored` when the database stays away."""
        while not self.is_ending:
            await self.wait()
            await self.write_pending()
            if not self.is_ending:
                await self.check_lease()
        await self.write_pending()

    async def wait(self) -> None:
        """Return when there is a batch to write, or after a tick."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.tick):
                await self.log.grown.wait()
        if self.log.grown.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_EVERY_SECONDS):
                    await self.log.urgent.wait()

    async def write_pending(self) -> None:
        log = self.log
        log.grown.clear()
        log.urgent.clear()
        while log.written < log.last:
            events = tuple(event for _, _, event in log.after(log.written, BATCH_EVENTS))
            batch = Batch(log.stream, log.run, log.written + 1, events)
            await self.retry(partial(journal.write, batch))
            log.mark_written(batch.last)
            await announce(log.stream)

    async def finish(self, ending: Ending) -> None:
        """Write the ending, then show it to viewers. Raises `LeaseLost`, `NotStored`."""
        # In this order, because a viewer that reads of the end may ask again at once.
        log = self.log
        batch = Batch(log.stream, log.run, log.last + 1, ending.events)
        await self.retry(partial(journal.finish, batch, ending))
        log.written = batch.last
        for event in ending.events:
            log.append(event)
        await announce(log.stream)

    async def check_lease(self) -> None:
        """Renew the lease of a silent run, and look for a request to stop."""
        if time.monotonic() - self.beat_at > settings.RUN_LEASE_SECONDS / 3:
            await self.retry(partial(leases.beat, self.log.run))
        if await self.retry(partial(leases.is_stop_requested, self.log.run)):
            self.stop()

    async def retry(self, work: Callable[[], Any]) -> Any:
        """Repeat a database operation until it succeeds. Raises `NotStored` when the lease ends."""
        deadline = time.monotonic() + settings.RUN_LEASE_SECONDS
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                done = await database_sync_to_async(work)()
            except (OperationalError, InterfaceError) as error:
                if time.monotonic() + pause > deadline:
                    raise NotStored from error
                logger.warning("The journal of run %s waits: %s", self.log.run, error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            except DatabaseError as error:
                raise NotStored from error
            else:
                self.beat_at = time.monotonic()
                return done
