"""Finds runs without a process, and resumes them in this process."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.db.models import QuerySet

from apps.live import interactions, leases
from apps.live.hub import Hub
from apps.live.journal.notifications import wake_viewers, watch_waiting_runs
from apps.live.limits import queue
from apps.live.models import Run
from apps.outages import Pauses

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 4.0
"""The interval in seconds between sweeps. A sweep also finds runs that were not announced, for
example because their lease expired.
"""
AT_ONCE = 50
"""The maximum number of runs that one sweep takes over. Taking over this many runs takes about a
second.
"""

ResumeRun = Callable[[Hub, Run], Awaitable[None]]
"""A function that resumes or ends a run that this process has taken over."""
EndRun = Callable[[Run], object]
"""A function that ends a run that no process may resume. It is called on a database thread."""
FollowUp = Callable[[Hub], Awaitable[None]]
"""A function that starts follow-up work after runs have ended, such as answering queued messages.
"""
FollowUpRows = Callable[[], QuerySet[Any]]
"""A function that returns a query for the rows that need follow-up work by `FollowUp`."""


async def do_nothing(hub: Hub) -> None:
    """Do nothing. This is the default for `follow_up`."""


class Sweeper:
    """Finds and resumes runs without a process, at intervals and whenever such a run is announced.

    `follow_up_rows` returns the rows for which `follow_up` has work.
    """

    def __init__(
        self,
        hub: Hub,
        resume_run: ResumeRun,
        end_run: EndRun,
        follow_up: FollowUp = do_nothing,
        follow_up_rows: FollowUpRows = Run.objects.none,
    ) -> None:
        self.hub = hub
        self.resume_run = resume_run
        self.end_run = end_run
        self.follow_up = follow_up
        self.follow_up_rows = follow_up_rows

    async def sweep_repeatedly(self) -> None:
        pauses = Pauses(SWEEP_SECONDS)
        async with watch_waiting_runs(self.hub.awaited):
            while not self.hub.is_closing:
                try:
                    await self.sweep()
                    pauses.note(None)
                except DatabaseError as error:
                    pauses.note(error)
                    logger.warning("Failed to search for runs without a process: %s", error)
                except Exception as error:
                    pauses.note(error)
                    logger.exception("Failed to search for runs without a process")
                # Jitter, so that processes that started together do not sweep at the same time.
                spread = random.uniform(0.75, 1.25)  # noqa: S311 - no secret
                with suppress(TimeoutError):
                    async with asyncio.timeout(pauses.seconds * spread):
                        await self.hub.awaited.wait()
                self.hub.awaited.clear()

    async def sweep(self, stream: UUID | None = None) -> None:
        """Take over as many runs as there are free slots, and start follow-up work. With `stream`,
        do this only if the stream's run must be resumed.
        """
        if stream is None:
            if not await database_sync_to_async(self.has_work)():
                self.hub.has_queue = False
                return
            for answered in await database_sync_to_async(interactions.answer_due)():
                await wake_viewers(self.hub.streams, answered)
        ended, count = await database_sync_to_async(self.end_lost_runs)(stream)
        for run in ended:
            await wake_viewers(self.hub.streams, run.stream)
        await self.resume_runs(count)
        if stream is None:
            await self.follow_up(self.hub)

    def has_work(self) -> bool:
        """Return True if there is work for a sweep. Runs one query."""
        rows = (leases.free(), interactions.due(), self.follow_up_rows())
        runs, timers, messages = (one.order_by().values_list("pk") for one in rows)
        return runs.union(timers, messages, all=True).exists()

    async def resume_runs(self, count: int) -> None:
        """Resume up to `count` runs while slots are free."""
        with self.hub.slots.reserve(0 if self.hub.is_closing else count) as room:
            if not room:
                return
            for run in await database_sync_to_async(self.take_over_runs)(room):
                try:
                    await self.resume_run(self.hub, run)
                except Exception:
                    logger.exception("Failed to end run %s, which cannot be resumed", run.pk)
        if count == AT_ONCE:
            self.hub.awaited.set()

    def end_lost_runs(self, stream: UUID | None) -> tuple[list[Run], int]:
        """End the runs that no process may resume. Return them, and the number of runs that can be
        resumed. With `stream`, do nothing unless the stream's run must be resumed.
        """
        free = leases.free() if stream is None else leases.free().filter(stream=stream)
        if not free.exists():
            self.hub.has_queue &= stream is not None
            return [], 0
        ended = [
            run for run in self.without_own(leases.free().filter(leases.LOST)) if self.try_end(run)
        ]
        self.hub.has_queue = leases.queued_runs().exists()
        count = self.without_own(leases.expired_runs()).count() + len(queue.startable(AT_ONCE))
        return ended, min(AT_ONCE, count)

    def take_over_runs(self, room: int) -> list[Run]:
        """Take over up to `room` runs, runs of dead processes first, and return them."""
        lost = self.without_own(leases.expired_runs()).order_by("beat_at")[:room]
        mine = [run for run in lost if leases.take_over(run, self.hub.name)]
        if len(mine) < room:
            mine += queue.claim(self.hub.name, room - len(mine))
        for run in mine:
            run.refresh_from_db()
        return mine

    def without_own(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        """Return the runs that this process is not executing. A busy process may renew its leases
        late, and must not resume its own runs.
        """
        return runs.exclude(stream__in=[*self.hub.supervisors])

    def try_end(self, run: Run) -> bool:
        """End a run. If this fails, log the error and return False."""
        try:
            self.end_run(run)
        except Exception:
            logger.exception("Failed to end run %s, which no process resumed", run.pk)
            return False
        return True
