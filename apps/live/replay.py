"""Follows a stream: yields the stored events after a given number, and then new events as they
occur.
"""

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

from channels.db import database_sync_to_async

from apps.live.events import NumberedEvent
from apps.live.hub import Hub
from apps.live.journal import journal

BATCH = 1_000
"""The maximum number of events in a batch."""


async def follow_events(
    hub: Hub, stream: UUID, after: int, *, idle: float
) -> AsyncGenerator[list[NumberedEvent], None]:
    """Yield batches of the events after number `after`, in order and without duplicates. After
    `idle` seconds without events, yield an empty batch. Ends when the process stops.
    """
    with hub.streams.watch(stream) as news:
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
    """Return events after a number, from memory if possible, otherwise from the journal."""
    while True:
        log = hub.streams.logs.get(stream)
        if log is not None and after >= log.first - 1:
            said = log.after(after, BATCH)
            if said or not log.is_over:
                return said
            log = None  # Another process has written newer events.
        if log is None and (received := read_received(hub, stream, after)):
            return received
        first = log.first if log is not None else 0
        written: list[NumberedEvent] = await database_sync_to_async(journal.read)(stream, after)
        if written or log is None:
            return written
        if log.first == first:
            return log.after(first - 1, BATCH)
        # While the journal was being read, the log dropped events that are now stored in it.


def read_received(hub: Hub, stream: UUID, after: int) -> list[NumberedEvent]:
    """Return the events after this number that another process sent. Return [] if events before
    them must first be read from the journal.
    """
    log = hub.streams.received.get(stream)
    return [] if log is None or after < log.first - 1 else log.after(after, BATCH)
