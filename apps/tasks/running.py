"""Runs jobs on threads or on the event loop, for the workers of both databases."""

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, Protocol

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from django.utils.module_loading import import_string

WORKERS = {
    "postgresql": "apps.tasks.postgresql.worker.PostgreSQLWorker",
    "sqlite": "apps.tasks.embedded.worker.EmbeddedWorker",
}


class Worker(Protocol):
    async def run(self) -> None:
        """Run jobs until canceled, and then wait up to `GRACE_SECONDS` for running jobs."""


P = ParamSpec("P")

JOBS_AT_ONCE = 20
"""The maximum number of concurrent jobs per process. Most jobs wait for the network."""
THREADS = 4
GRACE_SECONDS = 3.0
"""The time in seconds for which a stopping process waits for its running jobs."""


class JobThreads:
    """Threads for jobs, separate from the threads for requests. Each call releases its database
    connection.
    """

    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(THREADS, thread_name_prefix="jobs")

    async def call(self, function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Await a coroutine function on the event loop, or call any other function on a thread."""
        if inspect.iscoroutinefunction(function):
            return await function(*args, **kwargs)
        run = sync_to_async(closing(function), thread_sensitive=False, executor=self.executor)
        return await run(*args, **kwargs)

    def close(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)


def closing(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return call


def make_worker() -> Worker:
    worker: Worker = import_string(WORKERS[connection.vendor])()
    return worker
