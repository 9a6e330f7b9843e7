"""Keys that stop being valid while an answer to their holder is under way."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError

from apps.accounts.caller import Caller
from apps.accounts.key_holders import find_holder_of
from apps.errors import NotAuthenticated

logger = logging.getLogger(__name__)


@asynccontextmanager
async def while_valid(caller: Caller) -> AsyncIterator[None]:
    """Break off the work inside when the caller's key ends; others than keys are not watched.

    A key is looked up every `HEARTBEAT_SECONDS`, so short answers are not. Raises
    `NotAuthenticated`.
    """
    if caller.kind != "key":
        yield
        return
    loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)
    tasks: list[asyncio.Task[None]] = []
    try:
        async with limit:
            # A timer costs a request next to nothing, a task some ten times as much.
            timer = loop.call_later(
                settings.HEARTBEAT_SECONDS,
                lambda: tasks.append(loop.create_task(end_with_key(caller, limit))),
            )
            try:
                yield
            finally:
                timer.cancel()
                for task in tasks:
                    task.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        raise NotAuthenticated from None


async def end_with_key(caller: Caller, limit: asyncio.Timeout) -> None:
    prefix = caller.bucket.removeprefix("key-")
    while True:
        if not await is_valid(prefix):
            limit.reschedule(asyncio.get_running_loop().time())
            return
        await asyncio.sleep(settings.HEARTBEAT_SECONDS)


async def is_valid(prefix: str) -> bool:
    try:
        return await database_sync_to_async(find_holder_of)(prefix) is not None
    except DatabaseError:
        logger.exception("The key %s could not be looked up; its answer goes on", prefix)
        return True
