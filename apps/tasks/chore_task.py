"""Runs chores (recurring jobs) as tasks, and records when and for how long each last ran."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from channels.db import database_sync_to_async
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.chores import Chore
from apps.tasks.models import ChoreRun
from apps.tasks.status import queue
from apps.tasks.task import Task, all_chores, task

logger = logging.getLogger(__name__)

LONGEST_ERROR = 1_000
PRIORITY = -10


@task("tasks.do_chore", priority=PRIORITY)
def do_chore(work: str) -> None:
    """Run the chore whose function has this dotted path. A failure is logged; the chore runs again
    at its next scheduled time.
    """
    if (chore := find_chore(work)) is not None:
        with reported(chore) as run:
            run.changed = import_string(work)() or 0
        store(run)


@task("tasks.do_async_chore", priority=PRIORITY)
async def do_async_chore(work: str) -> None:
    """Run the chore whose coroutine function has this dotted path, on the event loop."""
    if (chore := find_chore(work)) is not None:
        with reported(chore) as run:
            run.changed = await import_string(work)() or 0
        await database_sync_to_async(store)(run)


def task_of(chore: Chore) -> Task[Any, Any]:
    return do_async_chore if chore.is_async else do_chore


def enqueue_chore(work: str) -> None:
    """Enqueue a run of the chore now, unless a job for it is already queued."""
    if (chore := find_chore(work)) is not None:
        queue().enqueue_once(task_of(chore), work, work)


def find_chore(work: str) -> Chore | None:
    chore = next((one for one in all_chores() if one.work == work), None)
    if chore is None:
        logger.warning("Skipped the chore %s: it no longer exists", work)
    return chore


@contextmanager
def reported(chore: Chore) -> Iterator[ChoreRun]:
    """Measure and log a chore's run, and set the outcome on the yielded row. The caller must save
    the row.
    """
    run, began = ChoreRun(work=chore.work, started_at=timezone.now()), time.monotonic()
    try:
        yield run
    except Exception as error:
        logger.exception("%s: failed", chore.title)
        run.error = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    else:
        if run.changed:
            logger.info("%s: %d", chore.title, run.changed)
    run.seconds = time.monotonic() - began


def store(run: ChoreRun) -> None:
    names = ("started_at", "seconds", "changed", "error")
    told = {name: getattr(run, name) for name in names}
    if not ChoreRun.objects.filter(work=run.work).update(**told):
        run.save()  # The chore's lock prevents concurrent inserts.
