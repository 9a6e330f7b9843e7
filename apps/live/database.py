"""Calls database functions from coroutines, on a Channels thread or a dedicated thread."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError, connection


class Execute(Protocol):
    """Calls a function on a thread with a database connection, and returns its result."""

    def __call__(self, work: Callable[[], Any], /) -> Awaitable[Any]: ...


async def on_a_thread(work: Callable[[], Any]) -> Any:
    return await database_sync_to_async(work)()


class OwnThread:
    """A thread with a permanent database connection, so that calls need not open one."""

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def __call__(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.pool, call, work)


def call(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (OperationalError, InterfaceError):
        connection.close()  # The next call opens a new one.
        raise
