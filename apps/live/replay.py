"""Follow a stream: replay the events after a number, then yield new ones as they come."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

from channels.db import database_sync_to_async

from apps.live import journal
from apps.live.events import NumberedEvent
from apps.live.hub import Hub

BATCH = 1_000
"""Events handed over at a time."""


async def follow(
    hub: Hub, stream: UUID, after: int, *, idle: float
) -> AsyncGenerator[list[NumberedEvent], None]:
    """Yield the events after number `after`, each once and in order, as batches.

    An empty batch is yielded after `idle` seconds without one. It ends when the process does.
    """
    with hub.watch(stream) as news:
        while True:
            news.clear()
            said = await newer(hub, stream, after)
            if said:
                after = said[-1][0]
                yield said
                continue
            if hub.is_closed:
                return
            try:
                async with asyncio.timeout(idle):
                    await news.wait()
            except TimeoutError:
                yield []


async def newer(hub: Hub, stream: UUID, after: int) -> list[NumberedEvent]:
    """The events after a number: from memory if they are there, else from the journal."""
    while True:
        log = hub.logs.get(stream)
        if log is not None and after >= log.first - 1:
            said = log.after(after, BATCH)
            if said or not log.is_over:
                return said
            log = None  # newer events are those of another process
        if log is None and (told := told_elsewhere(hub, stream, after)):
            return told
        first = log.first if log is not None else 0
        written: list[NumberedEvent] = await database_sync_to_async(journal.read)(stream, after)
        if written or log is None:
            return written
        if log.first == first:
            return log.after(first - 1, BATCH)
        # meanwhile the log let go of what is in the journal by now


def told_elsewhere(hub: Hub, stream: UUID, after: int) -> list[NumberedEvent]:
    """What another process told; none when something before it has to be read first."""
    heard = hub.heard.get(stream)
    return [] if heard is None or after < heard.first - 1 else heard.after(after, BATCH)
