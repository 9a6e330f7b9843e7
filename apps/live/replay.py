"""Follow a stream: replay what was said since a number, then hear the rest as it is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

from channels.db import database_sync_to_async

from apps.live import journal
from apps.live.hub import Hub, Said

BATCH = 1_000
"""Events handed over at a time."""


async def follow(
    hub: Hub, stream: UUID, after: int, *, idle: float
) -> AsyncGenerator[list[Said], None]:
    """Yield the events after number `after`, each once and in order, as batches.

    An empty batch says that nothing came for `idle` seconds. The end is that of the process.
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


async def newer(hub: Hub, stream: UUID, after: int) -> list[Said]:
    """What follows `after`: from memory where it is there, else from the journal."""
    while True:
        log = hub.logs.get(stream)
        if log is not None and after >= log.first - 1:
            said = log.after(after, BATCH)
            if said or not log.is_over:
                return said
            log = None  # what was said since is another process's
        first = log.first if log is not None else 0
        written: list[Said] = await database_sync_to_async(journal.read)(stream, after)
        if written or log is None:
            return written
        if log.first == first:
            return log.after(first - 1, BATCH)
        # meanwhile the log let go of what is in the journal by now
