"""Finds runs without a process, and resumes them in this one."""

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
from apps.live.journal.notifications import hearing_of_waiting, wake_viewers
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

GoOn = Callable[[Hub, Run], Awaitable[None]]
"""A function that resumes or ends a run that this process has taken over."""
EndLost = Callable[[Run], object]
"""A function that ends a run that no process may resume. It is called on a database thread."""
GoFurther = Callable[[Hub], Awaitable[None]]
"""A function that starts follow-up work after runs have ended, such as answering queued messages.
"""
Following = Callable[[], QuerySet[Any]]
"""A function that returns a query for the rows for which `GoFurther` has work."""


async def nothing_follows(hub: Hub) -> None:
    """Do nothing. This is the default for `go_further`."""


class Sweeper:
    """Sweeps at intervals, and when a run is announced.

    `following` returns the rows for which `go_further` has work.
    """

    def __init__(
        self,
        hub: Hub,
        go_on: GoOn,
        end_lost: EndLost,
        go_further: GoFurther = nothing_follows,
        following: Following = Run.objects.none,
    ) -> None:
        self.hub = hub
        self.go_on = go_on
        self.end_lost = end_lost
        self.go_further = go_further
        self.following = following

    async def keep_sweeping(self) -> None:
        pauses = Pauses(SWEEP_SECONDS)
        async with hearing_of_waiting(self.hub.awaited):
            while not self.hub.is_closing:
                try:
                    await self.sweep()
                    pauses.note(None)
                except DatabaseError as error:
                    pauses.note(error)
                    logger.warning("Runs without a process cannot be searched: %s", error)
                except Exception as error:
                    pauses.note(error)
                    logger.exception("Runs without a process could not be searched")
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
        ended, wanted = await database_sync_to_async(self.look)(stream)
        for run in ended:
            await wake_viewers(self.hub.streams, run.stream)
        await self.take_up(wanted)
        if stream is None:
            await self.go_further(self.hub)

    def has_work(self) -> bool:
        """Return True if there is work for a sweep. Runs one query."""
        rows = (leases.free(), interactions.due(), self.following())
        runs, timers, messages = (one.order_by().values_list("pk") for one in rows)
        return runs.union(timers, messages, all=True).exists()

    async def take_up(self, wanted: int) -> None:
        """Resume up to `wanted` runs while slots are free."""
        with self.hub.places.reserved(0 if self.hub.is_closing else wanted) as room:
            if not room:
                return
            for run in await database_sync_to_async(self.take)(room):
                try:
                    await self.go_on(self.hub, run)
                except Exception:
                    logger.exception("Run %s cannot be resumed, and could not be ended", run.pk)
        if wanted == AT_ONCE:
            self.hub.awaited.set()

    def look(self, stream: UUID | None) -> tuple[list[Run], int]:
        """End the runs that no process may resume. Return them, and the number of runs that can be
        resumed. With `stream`, do nothing unless the stream's run must be resumed.
        """
        free = leases.free() if stream is None else leases.free().filter(stream=stream)
        if not free.exists():
            self.hub.has_queue &= stream is not None
            return [], 0
        ended = [run for run in self.of_others(leases.free().filter(leases.LOST)) if self.end(run)]
        self.hub.has_queue = leases.queued_runs().exists()
        count = self.of_others(leases.expired_runs()).count() + len(queue.startable(AT_ONCE))
        return ended, min(AT_ONCE, count)

    def take(self, room: int) -> list[Run]:
        """Take over up to `room` runs, runs of dead processes first, and return them."""
        lost = self.of_others(leases.expired_runs()).order_by("beat_at")[:room]
        mine = [run for run in lost if leases.take_over(run, self.hub.name)]
        if len(mine) < room:
            mine += queue.claim(self.hub.name, room - len(mine))
        for run in mine:
            run.refresh_from_db()
        return mine

    def of_others(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        """Return the runs that this process does not execute. A busy process can renew its leases
        late, and must not resume its own runs.
        """
        return runs.exclude(stream__in=[*self.hub.supervisors])

    def end(self, run: Run) -> bool:
        """End a run. Return False if this fails, which is logged."""
        try:
            self.end_lost(run)
        except Exception:
            logger.exception("Run %s, which no process resumes, could not be ended", run.pk)
            return False
        return True
