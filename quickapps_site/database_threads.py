"""The threads on which coroutines use the database, each with a connection of its own.

asgiref runs all such work of a process on one thread, so that one statement that waits for a lock
would stop every request. Only code that opens a transaction in one call and goes on with it in the
next needs that, and there is none here.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from asgiref.sync import SyncToAsync
from django.db import close_old_connections


class DatabaseThreads(ThreadPoolExecutor):
    """Gives the connection of a thread back to the pool after each call."""

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
    """Use so many threads from now on, wherever no thread is given by the caller.

    Django's requests have a thread each, and tests call coroutines on the thread of their transaction.
    """
    before = SyncToAsync.single_thread_executor
    SyncToAsync.single_thread_executor = DatabaseThreads(count)
    before.shutdown(wait=False)
