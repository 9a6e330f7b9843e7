"""Leases on runs, which hold across processes, and requests to stop a run."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.errors import LeaseLost, Refused
from apps.live.journal import oldest_beat
from apps.live.models import Run


def claim(run: Run) -> None:
    """Save a new run. Raises `Refused` while another one is going in its stream."""
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError as error:
        raise Refused(
            "run_going", "An answer is still being written. Wait for it or stop it first."
        ) from error


def going(stream: UUID) -> Run | None:
    return Run.objects.filter(stream=stream, status__in=Run.GOING).first()


def count_going(bucket: str) -> int:
    """The number of a caller's runs whose lease has not expired."""
    return Run.objects.filter(
        bucket=bucket, status__in=Run.GOING, beat_at__gte=oldest_beat()
    ).count()


def request_stop(stream: UUID) -> bool:
    """Ask the process that works in the stream to stop; False when there is none."""
    runs = Run.objects.filter(stream=stream, status__in=Run.GOING)
    return bool(runs.update(is_stop_requested=True))


def beat(run: UUID) -> None:
    """Renew the lease. Raises `LeaseLost`."""
    if not Run.objects.filter(pk=run, status__in=Run.GOING).update(beat_at=timezone.now()):
        raise LeaseLost


def is_stop_requested(run: UUID) -> bool:
    """Raises `LeaseLost` when the run was closed by somebody else, or deleted."""
    row = Run.objects.filter(pk=run, status__in=Run.GOING)
    is_requested = row.values_list("is_stop_requested", flat=True).first()
    if is_requested is None:
        raise LeaseLost
    return is_requested
