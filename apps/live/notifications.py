"""Signals between processes that a stream has new events; the events themselves are in the journal.

The channel layer may lose a message, so viewers look into the journal now and then without one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer

from apps.live.hub import Hub

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0


def group(stream: UUID) -> str:
    """The channel layer's group of the stream's viewers."""
    return f"stream-{stream}"


async def announce(stream: UUID) -> None:
    """Wake the viewers of a stream in all processes."""
    try:
        await layer().group_send(group(stream), {"type": "journal.grew"})
    except Exception:
        logger.exception("News of %s could not be announced to other processes", stream)


@asynccontextmanager
async def listening(hub: Hub, stream: UUID) -> AsyncIterator[None]:
    """During the block, wake the hub's viewers when another process announces new events."""
    listener = asyncio.create_task(listen(hub, stream))
    try:
        yield
    finally:
        listener.cancel()
        await asyncio.wait([listener])


async def listen(hub: Hub, stream: UUID) -> None:
    while True:
        try:
            await hear(hub, stream)
        except Exception:
            logger.exception("Other processes cannot be heard; trying again")
            await asyncio.sleep(RETRY_SECONDS)


async def hear(hub: Hub, stream: UUID) -> None:
    channel = await layer().new_channel()
    await layer().group_add(group(stream), channel)
    hub.wake(stream)  # what was announced before now was not heard
    try:
        while True:
            await layer().receive(channel)
            hub.wake(stream)
    finally:
        with suppress(Exception):
            await layer().group_discard(group(stream), channel)


def layer() -> Any:
    return get_channel_layer()
