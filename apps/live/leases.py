"""Grants and checks run leases, and requests that runs stop."""

from datetime import datetime, timedelta
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.errors import Conflict
from apps.live.hub import Hub
from apps.live.journal.notifications import announce_waiting
from apps.live.models import FORMAT, Run

MOST_ATTEMPTS = 6
"""A run is abandoned after this many attempts without a new step, because it may crash its
processes. With a limit of three, healthy runs were abandoned when processes were killed every nine
seconds.
"""


def claim(run: Run) -> None:
    """Save a new run. Raises `Conflict` if the stream already has an open run."""
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(
            "run_going",
            gettext("An answer is still being written. Wait for it to finish, or stop it first."),
        ) from error


def open_run(stream: UUID) -> Run | None:
    return Run.objects.filter(stream=stream, status__in=Run.OPEN).first()


def request_stop(stream: UUID) -> bool:
    """Request that the stream's active run stop. Return False if no process is executing a run of
    the stream.
    """
    runs = Run.objects.filter(stream=stream, status__in=Run.GOING).exclude(holder="")
    return bool(runs.update(is_stop_requested=True))


def request_end(run: UUID) -> bool:
    """Request that the run stop. The run's process stops it. If the run has no process, a sweeper
    ends it. Return False if the run has already ended.
    """
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
"""A filter for runs that no process may resume, because they may crash processes or because a stop
was requested.
"""


def free() -> QuerySet[Run]:
    """Return the active runs that no process is executing and that this version of the code can
    read.
    """
    known = Run.objects.filter(status__in=Run.GOING, format__lte=FORMAT)
    return known.filter(Q(beat_at__lt=oldest_beat()) | QUEUED)


def queued_runs() -> QuerySet[Run]:
    return free().filter(QUEUED).exclude(LOST)


def expired_runs() -> QuerySet[Run]:
    """Return the resumable runs whose process has died."""
    return free().exclude(QUEUED).exclude(LOST)


def take_over(run: Run, holder: str) -> bool:
    """Assign a free run to the process `holder`. Return False if another process was faster."""
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


def waiting_or_queued() -> QuerySet[Run]:
    """Return the runs that are waiting for a user or are queued."""
    return Run.objects.filter(Q(status=Run.Status.WAITING) | QUEUED)


def close(runs: QuerySet[Run], status: str) -> bool:
    """End the runs, and set their status to `status`. Return False if there are none."""
    return bool(runs.update(status=status, holder="", finished_at=timezone.now()))


async def stop_run(hub: Hub, run: Run) -> bool:
    """Request that the run stop, and wake the sweepers of all processes. Return False if the run
    has already ended.
    """
    is_open: bool = await database_sync_to_async(request_end)(run.pk)
    if is_open:
        hub.awaited.set()
        await announce_waiting()
    return is_open
