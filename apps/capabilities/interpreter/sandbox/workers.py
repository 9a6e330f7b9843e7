"""Runs code in a pool of worker processes. A thread waits for each running process.

The interpreter's own asynchronous pool would abort the whole server process if a run were canceled
while the event loop is shutting down.
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

from pydantic_monty import Monty, MontySession, OSPolicy, ResourceLimits

T = TypeVar("T")

MOST_DEPTH = 400
MOST_FILE_OPERATIONS = 20_000
"""The maximum number of file operations in a call. A write takes about 0.1 ms."""
CODE_SECONDS = 10.0
"""The timeout for a call's code, in seconds."""
MEMORY_MB = 128
"""The memory limit for a call's code, in megabytes."""
WAIT_SECONDS = 10.0
"""The seconds that a call may take in addition to `CODE_SECONDS`, for loading and file operations."""
POLICY: OSPolicy = {"sleep": "zero"}
"""This policy makes `sleep` return immediately, because sleeping code would block other calls."""
SIGNAL = getattr(signal, "SIGKILL", signal.SIGTERM)


@cache
def workers() -> tuple[Monty, ThreadPoolExecutor]:
    """Return the pool of worker processes, and the pool of threads that wait for them. Workers
    start on demand; starting one takes about 10 ms and 10 MB.
    """
    count = max(2, os.cpu_count() or 2)
    pool = Monty(min_processes=0, max_processes=count)
    pool.__enter__()
    threads = ThreadPoolExecutor(count, thread_name_prefix="python-sandbox")
    atexit.register(pool.__exit__, None, None, None)
    return pool, threads


def limits() -> ResourceLimits:
    return {
        "max_feed_duration_secs": CODE_SECONDS,
        "max_memory": MEMORY_MB * 1024 * 1024,
        "max_recursion_depth": MOST_DEPTH,
        "max_suspensions": MOST_FILE_OPERATIONS,
    }


class WorkerStopped(Exception):
    pass


@dataclass(slots=True)
class WorkerJob:
    """A job in a worker process. Any thread can stop it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    pid: int | None = None
    is_stopped: bool = False

    def run(self, pool: Monty, work: Callable[[MontySession], T]) -> T:
        self.check()
        with pool.checkout(limits=limits(), os_policy=POLICY) as session:
            with self.lock:
                self.check()
                self.pid = session.worker_pid
            timer = threading.Timer(CODE_SECONDS + WAIT_SECONDS, self.end_worker)
            timer.daemon = True
            timer.start()
            try:
                return work(session)
            finally:
                timer.cancel()
                with self.lock:
                    self.pid = None  # Another job may be using the worker.

    def check(self) -> None:
        if self.is_stopped:
            raise WorkerStopped

    def stop(self) -> None:
        self.is_stopped = True
        self.end_worker()

    def end_worker(self) -> None:
        with self.lock:
            if self.pid is not None:
                with suppress(ProcessLookupError):  # The worker has just ended by itself.
                    os.kill(self.pid, SIGNAL)


async def run_in_worker(work: Callable[[MontySession], T]) -> T:
    """Call `work` in a thread, with the session of a worker process. If this call is canceled, kill
    the process.
    """
    job = WorkerJob()
    pool, threads = workers()
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.run_in_executor(threads, job.run, pool, work)
    try:
        found: T = await future
    except asyncio.CancelledError:
        job.stop()
        raise
    return found
