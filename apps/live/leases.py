"""Leases on runs, which hold across processes, and requests to stop a run."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.errors import Conflict
from apps.live.models import FORMAT, Run

MOST_ATTEMPTS = 6
"""A run that was taken over so often without a new step is not taken over again: it may be what ends
its processes. Three were too few: of 300 runs on processes that were killed every nine seconds, two
were given up that had ended none."""


def claim(run: Run) -> None:
    """Save a new run. Raises `Refused` while another one is going or waiting in its stream."""
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(
            "run_going", gettext("An answer is still being written. Wait for it or stop it first.")
        ) from error


def open_run(stream: UUID) -> Run | None:
    return Run.objects.filter(stream=stream, status__in=Run.OPEN).first()


def request_stop(stream: UUID) -> bool:
    """Ask the process that works in the stream to stop; False when there is none."""
    runs = Run.objects.filter(stream=stream, status__in=Run.GOING).exclude(holder="")
    return bool(runs.update(is_stop_requested=True))


def request_end(run: UUID) -> bool:
    """Ask that an open run be stopped, by its process or else by a sweeper; False if it is over."""
    waiting = Run.objects.filter(pk=run, status=Run.Status.WAITING)
    queued, now = Run.Status.QUEUED, timezone.now()
    if waiting.update(status=queued, holder="", beat_at=now, is_stop_requested=True):
        return True
    going = Run.objects.filter(pk=run, status__in=Run.GOING)
    return bool(going.update(is_stop_requested=True))


def oldest_beat() -> datetime:
    return timezone.now() - timedelta(seconds=settings.RUN_LEASE_SECONDS)


QUEUED = Q(status=Run.Status.QUEUED, holder="")
LOST = Q(attempts__gte=MOST_ATTEMPTS) | Q(is_stop_requested=True)
"""A free run that no process continues: it ends each process, or is to be stopped."""


def free() -> QuerySet[Run]:
    """The runs that are going although no process works on them, as far as this code reads them."""
    known = Run.objects.filter(status__in=Run.GOING, format__lte=FORMAT)
    return known.filter(Q(beat_at__lt=oldest_beat()) | QUEUED)


def queued() -> QuerySet[Run]:
    return free().filter(QUEUED).exclude(LOST)


def expired() -> QuerySet[Run]:
    """The runs that go on although their process is gone."""
    return free().exclude(QUEUED).exclude(LOST)


def take_over(run: Run, holder: str) -> bool:
    """Hold a free run; False when another process was quicker."""
    return bool(
        free()
        .filter(pk=run.pk)
        .update(
            status=Run.Status.RUNNING,
            holder=holder,
            beat_at=timezone.now(),
            attempts=F("attempts") + 1,
        )
    )


def resting() -> QuerySet[Run]:
    """The runs that wait for somebody, or for a process."""
    return Run.objects.filter(Q(status=Run.Status.WAITING) | QUEUED)


def close(runs: QuerySet[Run], status: str) -> bool:
    """End the runs among them; False when there was none."""
    return bool(runs.update(status=status, holder="", finished_at=timezone.now()))
