"""Provides the threads on which coroutines use the database, each with its own connection.

asgiref runs all such work of a process on one thread, so a statement that waits for a lock would
block every request. Only code that opens a transaction in one call and continues it in the next
needs that, and this project has none.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from asgiref.sync import SyncToAsync
from django.db import close_old_connections


class DatabaseThreads(ThreadPoolExecutor):
    """An executor that returns the connection of a thread to the pool after each call."""

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="database")

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        return super().submit(run, function, args, named)


def run(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return function(*args, **named)
    finally:
        close_old_connections()


def start(count: int) -> None:
    """Start this number of threads, and use them for all calls that specify no other thread.

    Each of Django's requests has its own thread, and tests call coroutines on the thread of their
    transaction.
    """
    before = SyncToAsync.single_thread_executor
    SyncToAsync.single_thread_executor = DatabaseThreads(count)
    before.shutdown(wait=False)
