"""Provides the threads on which coroutines use the database, each with its own connection.

By default, asgiref runs all database work of a process on one thread, so a statement waiting for
a lock would block every request. Only code that spreads a transaction over several calls needs a
single thread, and this project has none.

A third of the threads are reserved for kinds of calls that are not running yet. Therefore, even if
many calls are waiting for the same lock, requests that do not need the lock still get a thread.
"""

import functools
import itertools
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from asgiref.sync import SyncToAsync
from django.db import close_old_connections

Kind = tuple[object, ...]
"""The kind of a database call: the module and name of a function and, for a method of a query set,
its model.
"""
RESERVED_SHARE = 3


class DatabaseThreads(ThreadPoolExecutor):
    """Executes database calls on threads. After each call, the thread's connection returns to the
    pool.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="database")
        self.count, self.unreserved = count, count - count // RESERVED_SHARE
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.running: Counter[Kind] = Counter()
        self.waiting: defaultdict[Kind, deque[tuple[int, Callable[[], None]]]] = defaultdict(deque)

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        call = functools.partial(run, future, function, args, named)
        with self.lock:
            self.waiting[kind_of(function)].append((next(self.numbers), call))
            self.start_waiting()
        return future

    def start_waiting(self) -> None:
        """Start queued calls, oldest first, while there are threads for their kind."""
        while kinds := self.startable():
            kind = min(kinds, key=lambda one: self.waiting[one][0][0])
            _, call = self.waiting[kind].popleft()
            if not self.waiting[kind]:
                del self.waiting[kind]
            self.running[kind] += 1
            super().submit(self.work, kind, call)

    def startable(self) -> list[Kind]:
        busy = self.running.total()
        if busy < self.unreserved:
            return list(self.waiting)
        if busy < self.count:
            return [kind for kind in self.waiting if kind not in self.running]
        return []

    def work(self, kind: Kind, call: Callable[[], None]) -> None:
        try:
            call()
        finally:
            with self.lock:
                self.running[kind] -= 1
                if not self.running[kind]:
                    del self.running[kind]
                self.start_waiting()


def kind_of(function: Callable[..., Any]) -> Kind:
    """Return the kind of a database call, which depends on the project's function that the call
    runs. This function is the last argument of asgiref's handler.
    """
    while isinstance(function, functools.partial):
        is_handler = getattr(function.func, "__name__", "") == "thread_handler"
        function = function.args[-1] if is_handler else function.func
    owner = getattr(function, "__self__", None)
    model = getattr(owner, "model", None)
    return (
        getattr(function, "__module__", type(function).__module__),
        getattr(function, "__qualname__", type(function).__qualname__),
        model,
    )


def run(
    future: Future[Any],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        try:
            result = function(*args, **named)
        finally:
            close_old_connections()
    except BaseException as error:  # noqa: BLE001  # The waiting caller raises it.
        future.set_exception(error)
    else:
        future.set_result(result)


def start(count: int) -> None:
    """Start `count` threads, and use them for all database calls that specify no other thread.

    Requests to Django's views have their own threads, and tests run coroutines' calls on the thread
    of their transaction.
    """
    before = SyncToAsync.single_thread_executor
    SyncToAsync.single_thread_executor = DatabaseThreads(count)
    before.shutdown(wait=False)
