"""Reads and writes stored files on separate threads, so that a slow storage does not block the
database threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import DatabaseSyncToAsync, database_sync_to_async

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 32

_threads: ThreadPoolExecutor | None = None


def start() -> None:
    """Start the threads. Tests do not call this, so that files are read and written on the thread
    that runs the test's transaction.
    """
    global _threads
    _threads = ThreadPoolExecutor(THREADS, thread_name_prefix="files")


async def on_file_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function on one of the file threads. The function may use the storage and the database."""
    if _threads is None:
        found: R = await database_sync_to_async(function)(*args, **kwargs)
    else:
        call = DatabaseSyncToAsync(function, thread_sensitive=False, executor=_threads)
        found = await call(*args, **kwargs)
    return found
