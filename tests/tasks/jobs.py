"""Tasks of tests, and a worker that runs while a test needs it."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from channels.db import database_sync_to_async
from django.db import connection

from apps.tasks.models import QueuedJob
from apps.tasks.running import make_worker
from apps.tasks.task import find_task, task

LEASES_ARE_OVER = """
from django.db import connection
from django.utils import timezone
QueuedJob.objects.filter(status="running").update(lease_until=timezone.now())
if connection.vendor == "postgresql":
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
"""
"""Run in the shell of a site whose workers were killed, so that no job waits for their leases."""

done: list[Any] = []
"""The arguments of calls of the tasks below."""


@task("tests.note")
def note(what: str) -> None:
    done.append(what)


@task("tests.note_async")
async def note_async(what: str, *, loud: bool = False) -> None:
    done.append(what.upper() if loud else what)


@task("tests.fail_twice", retries=2, wait=0)
def fail_twice(what: str) -> None:
    done.append(what)
    if len(done) < 3:
        raise RuntimeError("The plate is hot.")


@task("tests.fail", retries=1, wait=0)
def fail() -> None:
    done.append("failed")
    raise RuntimeError("The plate is hot.")


def note_given_up(what: str) -> None:
    done.append(f"gave up {what}")


@task("tests.never_end", given_up=note_given_up)
async def never_end(what: str) -> None:
    done.append(what)
    await asyncio.Event().wait()


@task("tests.kill_process")
def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wash() -> int:
    done.append("washed")
    return 3


def break_plate() -> int:
    done.append("broken")
    raise RuntimeError("The plate is hot.")


@asynccontextmanager
async def working() -> AsyncIterator[None]:
    """Run a worker like that of a server process."""
    running = asyncio.create_task(make_worker().run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_true():
            await asyncio.sleep(0.01)


async def run_waiting_jobs() -> None:
    """Run all waiting jobs, whenever they are due, in the transaction of the test."""
    for key, args, kwargs in await database_sync_to_async(taken_jobs)():
        function = find_task(key).func
        if not inspect.iscoroutinefunction(function):
            function = database_sync_to_async(function)
        with suppress(Exception):
            await function(*args, **kwargs)


def taken_jobs() -> list[tuple[str, list[Any], dict[str, Any]]]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "WITH taken AS (DELETE FROM procrastinate_jobs WHERE status = 'todo' RETURNING *)"
                " SELECT task_name, args FROM taken ORDER BY id"
            )
            rows = [(key, json.loads(given)) for key, given in cursor.fetchall()]
    else:
        waiting = QueuedJob.objects.filter(status=QueuedJob.Status.READY).order_by("pk")
        rows = list(waiting.values_list("task", "arguments"))
        waiting.delete()
    return [(key, given["args"], given["kwargs"]) for key, given in rows]
