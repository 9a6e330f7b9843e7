"""Limits concurrent stored runs across all processes. Further runs wait in a fair queue.

Runs are counted by user or API key, and visitors' runs by IP address. Each further run of a user is
queued as if it had been requested an hour later, so that users take turns. Runs that are waiting
for a user do not count.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext

from apps.errors import TooOften
from apps.live import leases
from apps.live.limits.quotas import is_full
from apps.live.models import FORMAT, Run

TURN = timedelta(hours=1)
"""The queue positions of a user's runs are this far apart, which is longer than any run waits. With
a shorter distance, several of one user's old questions could come before another user's first
question.
"""
MOST_QUEUED = 100
"""The maximum number of queued runs per user. Further runs are rejected."""
MOST_READ = 1_000
COUNTED = Coalesce(NullIf("counted_as", Value("")), "bucket")
"""A database expression for `Run.counted`."""
LOCK = 0x71756575
"""The ID of the PostgreSQL advisory lock for admitting runs."""


@dataclass(frozen=True, slots=True)
class ActiveRunCounts:
    """The number of active runs of each caller (see `Run.counted`) and each application."""

    callers: Counter[str]
    applications: Counter[str]

    def has_room(self, run: Run) -> bool:
        return not (
            is_full(self.callers[run.counted], most_of(run.counted))
            or is_full(self.applications[run.application], settings.RUNS_PER_APPLICATION)
        )


def most_of(counted: str) -> int:
    """Return a caller's limit on concurrent runs. `counted` identifies the caller, as in
    `Run.counted`.
    """
    return int(settings.RUNS_PER_KEY if counted.startswith("key-") else settings.RUNS_PER_PERSON)


def next_up(queued: Iterable[Run], active: ActiveRunCounts, room: int) -> list[Run]:
    """Return up to `room` of the first runs in `queued`, skipping runs that a limit blocks.
    `active` contains the numbers of active runs.
    """
    active = ActiveRunCounts(Counter(active.callers), Counter(active.applications))
    chosen: list[Run] = []
    for run in queued:
        if len(chosen) < room and active.has_room(run):
            active.callers[run.counted] += 1
            active.applications[run.application] += 1
            chosen.append(run)
    return chosen


def startable(room: int) -> list[Run]:
    """Return up to `room` queued runs that can start now."""
    if not leases.queued_runs().exists():
        return []
    active = count_active_runs()
    return next_up(read_queue(active), active, room)


@transaction.atomic
def claim(holder: str, room: int) -> list[Run]:
    """Assign up to `room` queued runs that can start now to the process `holder`. Return these
    runs.
    """
    lock()
    return [run for run in startable(room) if leases.take_over(run, holder)]


def admit(run: Run, holder: str) -> None:
    """Assign a new run to the process `holder`. Queue it if a limit is reached or `holder` is "".

    Must be called in the transaction that saves the run. Raises `TooOften` if the caller has too
    many queued runs.
    """
    lock()
    rows = Run.objects.filter(status__in=Run.GOING).annotate(caller_name=COUNTED)
    found = rows.filter(caller_name=run.counted).aggregate(
        last=Max("turn_at"), queued=Count("pk", filter=Q(status="queued"))
    )
    if found["queued"] >= MOST_QUEUED:
        raise TooOften(
            "too_many_runs",
            gettext(
                "Too many of your questions are queued. Wait until some are answered, or stop them."
            ),
        )
    if found["last"] is not None:
        run.turn_at = max(run.turn_at, found["last"] + TURN)
    active = count_active_runs()
    queued = sorted([*read_queue(active), run], key=attrgetter("turn_at"))
    if holder and run in next_up(queued, active, 1):
        run.status, run.holder = Run.Status.RUNNING, holder
    else:
        run.status, run.holder = Run.Status.QUEUED, ""


def last_turns(names: Iterable[str]) -> dict[str, datetime]:
    """Return each caller's last queue position among active and queued runs. `names` identify the
    callers, as in `Run.counted`.
    """
    rows = Run.objects.filter(status__in=Run.GOING).annotate(caller_name=COUNTED).order_by()
    mine = rows.filter(caller_name__in=names)
    return dict(mine.values_list("caller_name").annotate(Max("turn_at")))


def count_active_runs() -> ActiveRunCounts:
    """Count the active runs, including those whose process has died."""
    active = ActiveRunCounts(Counter(), Counter())
    running = Run.objects.filter(status=Run.Status.RUNNING).order_by()
    for name, application, count in running.values_list(COUNTED, "application").annotate(
        Count("pk")
    ):
        active.callers[name] += count
        active.applications[application] += count
    return active


def read_queue(active: ActiveRunCounts) -> QuerySet[Run]:
    """Return the queued runs whose caller and application are below the limits, in queue order."""
    callers = [one for one, count in active.callers.items() if is_full(count, most_of(one))]
    most = settings.RUNS_PER_APPLICATION
    applications = [one for one, count in active.applications.items() if is_full(count, most)]
    rows = leases.queued_runs().filter(format__lte=FORMAT, is_stop_requested=False)
    rows = rows.annotate(caller_name=COUNTED).exclude(caller_name__in=callers)
    rows = rows.exclude(application__in=applications)
    return rows.order_by("turn_at", "pk")[:MOST_READ]


def lock() -> None:
    """Prevent other processes from admitting runs until the transaction ends."""
    if connection.vendor == "postgresql":  # SQLite has only one writer at a time.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
