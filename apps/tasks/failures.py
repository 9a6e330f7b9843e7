"""Logs and stores failed job attempts, with their tracebacks."""

import logging
import traceback
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import takewhile
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.old_rows import delete_older
from apps.tasks.jobs import Job
from apps.tasks.models import TaskFailure
from apps.tasks.status import queue
from apps.tasks.task import all_tasks

logger = logging.getLogger(__name__)

FAILURE_DAYS = 30
LONGEST_ERROR = 4_000
MOST_LOST = 5
"""The worker gives up on a job if this many processes were killed while running it, because the job
may be the cause.
"""


def give_up(task: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Call the task's `given_up` function for a job that will not run again, and log the function's
    errors.
    """
    found = all_tasks().get(task)
    if found is not None and found.given_up is not None:
        try:
            with transaction.atomic():
                found.given_up(*args, **kwargs)
        except Exception:
            logger.exception("%s: the callback for an abandoned job failed", task)


def cancel(job: str) -> Job | None:
    """Delete a queued or failed job, or end a running one. Return the job, or None if it does not
    exist.

    A synchronous function still runs to completion, but the job is not retried.
    """
    with transaction.atomic():
        found = queue().cancel(job)
        if found is not None and found.state != "failed":
            give_up(found.task, found.args, found.kwargs)
    return found


def record_failure(
    task: str, job: str, attempt: int, error: Exception, retry_in: timedelta | None
) -> None:
    then = (
        "no attempt follows" if retry_in is None else f"retried in {retry_in.total_seconds():g} s"
    )
    logger.error("Job %s of %s failed, attempt %d; %s", job, task, attempt, then, exc_info=error)
    lines = "".join(traceback.format_exception(error))
    TaskFailure.objects.create(
        job=job, task=task, attempt=attempt, is_final=retry_in is None, error=lines[-LONGEST_ERROR:]
    )


def record_lost(task: str, job: str, attempt: int) -> bool:
    """Record that a process was killed during an attempt. Return True if the job will run again.

    The worker gives up on a job after `MOST_LOST` such attempts. The count restarts when an
    operator retries the job.
    """
    earlier = TaskFailure.objects.filter(job=job).order_by("-pk")
    since_final = takewhile(lambda row: not row.is_final, earlier)
    count = 1 + sum(row.is_lost for row in since_final)
    is_final = count >= MOST_LOST
    then = "no attempt follows" if is_final else "the job runs again"
    error = f"The process of the worker was killed while this job ran, {count} of {MOST_LOST} times"
    logger.error("Job %s of %s: %s; %s", job, task, error, then)
    TaskFailure.objects.create(
        job=job, task=task, attempt=attempt, is_final=is_final, is_lost=True, error=f"{error}."
    )
    return not is_final


def delete_old() -> int:
    """Delete failures and failed jobs that are older than `FAILURE_DAYS`, and return their number."""
    before = timezone.now() - timedelta(days=FAILURE_DAYS)
    return delete_older(TaskFailure, "at", FAILURE_DAYS) + queue().delete_failed(before)
