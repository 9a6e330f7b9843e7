"""The limits of kept runs at once, over all processes, and the fair queue behind them.

A run counts with those of its person, of its key, or of the address of a visitor. Persons take turns:
each further run of somebody who has open ones stands in the queue as if it had been asked for an hour
later. A run that waits for somebody counts nowhere.
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
from apps.live.models import FORMAT, Run
from apps.live.places import is_full

TURN = timedelta(hours=1)
"""More than a person waits. A shorter one would let many questions of one person, once they are
old, go before the first question of another."""
MOST_QUEUED = 100
"""Of one person; more are refused."""
MOST_READ = 1_000
COUNTED = Coalesce(NullIf("counted_as", Value("")), "bucket")
"""`Run.counted` as an expression."""
LOCK = 0x71756575
"""The number of PostgreSQL's lock under which runs are admitted."""


@dataclass(frozen=True, slots=True)
class Going:
    """How many runs processes work on, by whom they are counted as, and by application."""

    callers: Counter[str]
    applications: Counter[str]

    def has_room(self, run: Run) -> bool:
        return not (
            is_full(self.callers[run.counted], most_of(run.counted))
            or is_full(self.applications[run.application], settings.RUNS_PER_APPLICATION)
        )


def most_of(counted: str) -> int:
    """The limit of a caller: of a program's key, or of a person."""
    return int(settings.RUNS_PER_KEY if counted.startswith("key-") else settings.RUNS_PER_PERSON)


def next_up(line: Iterable[Run], going: Going, room: int) -> list[Run]:
    """The runs of the line that start now, in a place each, if there are places for `room`."""
    going = Going(Counter(going.callers), Counter(going.applications))
    chosen: list[Run] = []
    for run in line:
        if len(chosen) < room and going.has_room(run):
            going.callers[run.counted] += 1
            going.applications[run.application] += 1
            chosen.append(run)
    return chosen


def startable(room: int) -> list[Run]:
    """The queued runs that could start now."""
    if not leases.queued().exists():
        return []
    going = read_going()
    return next_up(read_line(going), going, room)


@transaction.atomic
def claim(holder: str, room: int) -> list[Run]:
    """Hold the queued runs whose turn it is."""
    lock()
    return [run for run in startable(room) if leases.take_over(run, holder)]


def admit(run: Run, holder: str) -> None:
    """Give a new run to the holder if it is its turn, else queue it; without a holder, queue it.

    Has to be in the transaction that saves it. Raises `Refused` when too many of the caller's wait.
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
                "Too many of your questions wait to be answered. Wait for some or stop them first."
            ),
        )
    if found["last"] is not None:
        run.turn_at = max(run.turn_at, found["last"] + TURN)
    going = read_going()
    line = sorted([*read_line(going), run], key=attrgetter("turn_at"))
    if holder and run in next_up(line, going, 1):
        run.status, run.holder = Run.Status.RUNNING, holder
    else:
        run.status, run.holder = Run.Status.QUEUED, ""


def last_turns(names: Iterable[str]) -> dict[str, datetime]:
    """The turn of the last run that goes on or is queued, of those who have one."""
    rows = Run.objects.filter(status__in=Run.GOING).annotate(caller_name=COUNTED).order_by()
    mine = rows.filter(caller_name__in=names)
    return dict(mine.values_list("caller_name").annotate(Max("turn_at")))


def read_going() -> Going:
    """The counts. What a process that is gone has worked on counts: another one goes on with it."""
    going = Going(Counter(), Counter())
    running = Run.objects.filter(status=Run.Status.RUNNING).order_by()
    for name, application, count in running.values_list(COUNTED, "application").annotate(
        Count("pk")
    ):
        going.callers[name] += count
        going.applications[application] += count
    return going


def read_line(going: Going) -> QuerySet[Run]:
    """The first queued runs of callers and applications that have room."""
    callers = [one for one, count in going.callers.items() if is_full(count, most_of(one))]
    most = settings.RUNS_PER_APPLICATION
    applications = [one for one, count in going.applications.items() if is_full(count, most)]
    rows = leases.queued().filter(format__lte=FORMAT, is_stop_requested=False)
    rows = rows.annotate(caller_name=COUNTED).exclude(caller_name__in=callers)
    rows = rows.exclude(application__in=applications)
    return rows.order_by("turn_at", "pk")[:MOST_READ]


def lock() -> None:
    """Let no other process admit a run until the transaction ends."""
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
