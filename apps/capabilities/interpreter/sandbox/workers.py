"""The processes that run the code, and a thread for each that waits for it.

The interpreter's own asynchronous pool is not used: it aborts this whole process when a run is
cancelled while its event loop ends. A thread waits without holding up anybody, and ending the
worker process ends the wait.
"""

import asyncio
import atexit
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from django.conf import settings
from pydantic_monty import Monty, MontySession, OSPolicy, ResourceLimits

T = TypeVar("T")

MOST_DEPTH = 400
MOST_FILE_OPERATIONS = 20_000
"""Each write to a file is one; they take some 0.1 ms."""
WAIT_SECONDS = 10.0
"""What file operations and loading may take beyond the time that the code itself has."""
POLICY: OSPolicy = {"sleep": "zero"}
"""There is nothing to wait for in there, and a sleeper would keep others from running."""
SIGNAL = getattr(signal, "SIGKILL", signal.SIGTERM)


@cache
def workers() -> tuple[Monty, ThreadPoolExecutor]:
    """Started by the first call; a worker takes some 10 ms and 10 MB."""
    count = settings.PY_INTERPRETER_SANDBOX_PROCESSES or max(2, os.cpu_count() or 2)
    pool = Monty(min_processes=0, max_processes=count)
    pool.__enter__()
    threads = ThreadPoolExecutor(count, thread_name_prefix="python-sandbox")
    atexit.register(pool.__exit__, None, None, None)
    return pool, threads


def limits() -> ResourceLimits:
    return {
        "max_feed_duration_secs": settings.PY_INTERPRETER_SANDBOX_SECONDS,
        "max_memory": settings.PY_INTERPRETER_SANDBOX_MEMORY_MB * 1024 * 1024,
        "max_recursion_depth": MOST_DEPTH,
        "max_suspensions": MOST_FILE_OPERATIONS,
    }


class Abandoned(Exception):
    pass


@dataclass(slots=True)
class Job:
    """One use of a worker; `stop` ends it from any thread, before or while it works."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    pid: int | None = None
    is_stopped: bool = False

    def run(self, pool: Monty, work: Callable[[MontySession], T]) -> T:
        self.check()
        with pool.checkout(limits=limits(), os_policy=POLICY) as session:
            with self.lock:
                self.check()
                self.pid = session.worker_pid
            timer = threading.Timer(
                settings.PY_INTERPRETER_SANDBOX_SECONDS + WAIT_SECONDS, self.end_worker
            )
            timer.daemon = True
            timer.start()
            try:
                return work(session)
            finally:
                timer.cancel()
                with self.lock:
                    self.pid = None  # from here on the worker may be another's

    def check(self) -> None:
        if self.is_stopped:
            raise Abandoned

    def stop(self) -> None:
        self.is_stopped = True
        self.end_worker()

    def end_worker(self) -> None:
        with self.lock:
            if self.pid is not None:
                with suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(self.pid, SIGNAL)


async def run_in_worker(work: Callable[[MontySession], T]) -> T:
    """Run `work` in a thread with a worker. A cancellation ends the worker at once."""
    job = Job()
    pool, threads = workers()
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.run_in_executor(threads, job.run, pool, work)
    try:
        found: T = await future
    except asyncio.CancelledError:
        job.stop()
        raise
    return found
