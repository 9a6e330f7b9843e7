"""Looks for runs that no process works on, and has this process go on with them."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import DatabaseError

from apps.live import interactions, leases, queue
from apps.live.hub import Hub
from apps.live.models import Run
from apps.live.notifications import hearing_of_waiting, wake_viewers
from apps.outages import Pauses

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
AT_ONCE = 50
"""Runs that one sweep takes over. Taking up so many is a matter of a second, well within a lease."""

GoOn = Callable[[Hub, Run], Awaitable[None]]
"""Goes on with a run that this process holds now, or ends it."""
EndLost = Callable[[Run], object]
"""Ends a run that nobody goes on with, unless another process did; on a database thread."""
GoFurther = Callable[[Hub], Awaitable[None]]
"""Begins what was to follow runs that are over."""


async def nothing_follows(hub: Hub) -> None:
    """For streams in which nothing follows by itself."""


class Sweeper:
    def __init__(
        self, hub: Hub, go_on: GoOn, end_lost: EndLost, go_further: GoFurther = nothing_follows
    ) -> None:
        self.hub = hub
        self.go_on = go_on
        self.end_lost = end_lost
        self.go_further = go_further

    async def keep_sweeping(self) -> None:
        """Sweep until the process is about to end."""
        pauses = Pauses(SWEEP_SECONDS)
        async with hearing_of_waiting(self.hub.awaited):
            while not self.hub.is_closing:
                try:
                    await self.sweep()
                    pauses.note(None)
                except DatabaseError as error:
                    pauses.note(error)
                    logger.warning("Runs without a process cannot be looked for: %s", error)
                except Exception as error:
                    pauses.note(error)
                    logger.exception("Runs without a process could not be looked for")
                # Spread, so that processes that were started together do not look together.
                spread = random.uniform(0.75, 1.25)  # noqa: S311 - no secret
                with suppress(TimeoutError):
                    async with asyncio.timeout(pauses.seconds * spread):
                        await self.hub.awaited.wait()
                self.hub.awaited.clear()

    async def sweep(self, stream: UUID | None = None) -> None:
        """Take over what there is room for. With a stream, look only if that one needs a process."""
        if stream is None:
            for answered in await database_sync_to_async(interactions.answer_due)():
                await wake_viewers(self.hub, answered)
        ended, wanted = await database_sync_to_async(self.look)(stream)
        for run in ended:
            await wake_viewers(self.hub, run.stream)
        await self.take_up(wanted)
        if stream is None:
            await self.go_further(self.hub)

    async def take_up(self, wanted: int) -> None:
        """Go on with so many runs, or with as many as there are places for."""
        with self.hub.places.reserved(0 if self.hub.is_closing else wanted) as room:
            if not room:
                return
            for run in await database_sync_to_async(self.take)(room):
                try:
                    await self.go_on(self.hub, run)
                except Exception:
                    logger.exception("Run %s cannot go on, and could not be ended", run.pk)
        if wanted == AT_ONCE:
            self.hub.awaited.set()

    def look(self, stream: UUID | None) -> tuple[list[Run], int]:
        """End the runs that nobody will go on with; those, and how many others could go on."""
        free = leases.free() if stream is None else leases.free().filter(stream=stream)
        if not free.exists():
            self.hub.has_queue &= stream is not None
            return [], 0
        ended = [run for run in leases.free().filter(leases.LOST) if self.end(run)]
        self.hub.has_queue = leases.queued().exists()
        count = leases.expired().count() + len(queue.startable(AT_ONCE))
        return ended, min(AT_ONCE, count)

    def take(self, room: int) -> list[Run]:
        """Hold the runs that go on here now; first those that another process has worked on."""
        lost = leases.expired().order_by("beat_at")[:room]
        mine = [run for run in lost if leases.take_over(run, self.hub.name)]
        if len(mine) < room:
            mine += queue.claim(self.hub.name, room - len(mine))
        for run in mine:
            run.refresh_from_db()
        return mine

    def end(self, run: Run) -> bool:
        """False if it could not be ended."""
        try:
            self.end_lost(run)
        except Exception:
            logger.exception("Run %s, which nobody goes on with, could not be ended", run.pk)
            return False
        return True
