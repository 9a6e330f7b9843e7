"""Collects the diagnostic report's sections on the task queue, chores and recent failures.

Error messages are omitted, because they can repeat texts from users and services. The server's log
contains them.
"""

import re
import sys
from datetime import timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone

from apps.live.models import RunSummary
from apps.tasks.jobs import STATES
from apps.tasks.models import ChoreRun, TaskFailure
from apps.tasks.status import queue

MOST = 20
"""The maximum number of failures of each kind in the report, newest first."""
FRAMES = 5
DAY = timedelta(days=1)
FRAME = re.compile(
    r'^ *File "(?:\S*/)?((?:apps|quickapps_site)/[\w/]+\.py)", line (\d+), in ([\w<>]+)$',
    re.MULTILINE,
)
ERROR_TYPE = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)


def task_queue() -> dict[str, Any]:
    since = queue().waiting_since()
    waits = None if since is None else round((timezone.now() - since).total_seconds(), 1)
    return {**dict.fromkeys(STATES, 0), **queue().counts(), "oldest_waits_seconds": waits}


def chores() -> list[dict[str, Any]]:
    return [
        {
            "work": one.work,
            "started_at": one.started_at.isoformat(timespec="seconds"),
            "seconds": round(one.seconds, 2),
            "changed": one.changed,
            "error": one.error.partition(":")[0],
        }
        for one in ChoreRun.objects.all()
    ]


def failed_jobs() -> list[dict[str, Any]]:
    return [
        {
            "task": one.task,
            "at": one.at.isoformat(timespec="seconds"),
            "attempt": one.attempt,
            "is_final": one.is_final,
            "error": error_type(one.error),
            "where": frames(one.error)[-FRAMES:],
        }
        for one in TaskFailure.objects.all()[:MOST]
    ]


def runs() -> dict[str, Any]:
    """Return the number of runs in the last day by status, and the newest failed runs."""
    rows = RunSummary.objects.filter(started_at__gte=timezone.now() - DAY)
    counted = rows.order_by().values_list("status").annotate(Count("pk"))
    failed = RunSummary.objects.filter(status=RunSummary.Status.FAILED).order_by("-started_at")
    return {"last_day": dict(counted), "failed": list(map(failed_run, failed[:MOST]))}


def failed_run(row: RunSummary) -> dict[str, Any]:
    return {
        "run": str(row.pk),
        "application": row.application,
        "door": row.door,
        "started_at": row.started_at.isoformat(timespec="seconds"),
        "seconds": row.seconds,
        "error_reference": row.error_reference,
    }


def error_type(traceback: str) -> str:
    """Return the class name of the last exception in a traceback, or "" if it cannot be found."""
    names = [found[1] for found in ERROR_TYPE.finditer(traceback)]
    return next(filter(is_exception, reversed(names)), "")


def is_exception(name: str) -> bool:
    # A line in a message may look like a class name but contain a credential.
    module, _, attribute = name.rpartition(".")
    found = getattr(sys.modules.get(module or "builtins"), attribute, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def frames(traceback: str) -> list[str]:
    """Return a traceback's frames in QuickApps's code, innermost last."""
    return [f"{path}:{line} in {name}" for path, line, name in FRAME.findall(traceback)]
