"""The journal: the events of runs in batches, numbered within their stream.

These functions are synchronous and short: they run on a database thread, and no transaction stays
open while a model or a tool is awaited.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.errors import LeaseLost
from apps.live.hub import NumberedEvent
from apps.live.models import JournalEntry, Run

READ_ENTRIES = 50
"""Entries that one query reads, which bounds the memory of a viewer that is far behind."""
GAP = 1_000_000
"""Numbers left free after a process died: its viewers may have seen events that were not stored."""


@dataclass(frozen=True, slots=True)
class Batch:
    stream: UUID
    run: UUID
    first: int
    events: tuple[Mapping[str, Any], ...]

    @property
    def last(self) -> int:
        return self.first + len(self.events) - 1


@dataclass(frozen=True, slots=True)
class Ending:
    """The last events of a run; `store` saves its result in the transaction that ends the run."""

    status: str
    events: tuple[Mapping[str, Any], ...]
    store: Callable[[], None]


def last_number(stream: UUID) -> int:
    """The number of the newest event; 0 when there is none."""
    entries = JournalEntry.objects.filter(stream=stream).order_by("-last")
    return entries.values_list("last", flat=True).first() or 0


def read(stream: UUID, after: int) -> list[NumberedEvent]:
    """The oldest events that follow `after`, in order; not necessarily all of them."""
    entries = JournalEntry.objects.filter(stream=stream, last__gt=after).order_by("last")
    return [
        (entry.first + i, entry.run, event)
        for entry in entries[:READ_ENTRIES]
        for i, event in enumerate(entry.events)
        if entry.first + i > after
    ]


def read_run(stream: UUID, run: UUID) -> list[Mapping[str, Any]]:
    entries = JournalEntry.objects.filter(stream=stream, run=run).order_by("first")
    return [event for entry in entries for event in entry.events]


@transaction.atomic
def write(batch: Batch) -> None:
    """Add a batch and renew the lease; a batch that is there already stays as it is.

    Raises `LeaseLost`.
    """
    going = Run.objects.filter(pk=batch.run, status__in=Run.GOING)
    if not going.update(beat_at=timezone.now()):
        raise LeaseLost
    add(batch)


@transaction.atomic
def finish(batch: Batch, ending: Ending) -> None:
    """Add the last batch, end the run and store its result, all or nothing.

    Repeating it after a lost connection changes nothing. Raises `LeaseLost`.
    """
    going = Run.objects.filter(pk=batch.run, status__in=Run.GOING)
    if close(going, ending.status):
        add(batch)
        ending.store()
    elif not JournalEntry.objects.filter(
        stream=batch.stream, run=batch.run, first=batch.first
    ).exists():
        raise LeaseLost


@transaction.atomic
def finish_abandoned(run: Run, ending: Ending) -> bool:
    """End the run of a dead process; False when it lives, or another process ended the run first."""
    if not close(abandoned(run.stream).filter(pk=run.pk), ending.status):
        return False
    add(Batch(run.stream, run.pk, last_number(run.stream) + GAP, ending.events))
    ending.store()
    return True


def close(runs: Any, status: str) -> int:
    return int(runs.update(status=status, finished_at=timezone.now()))


def add(batch: Batch) -> None:
    if batch.events:
        JournalEntry.objects.get_or_create(
            stream=batch.stream,
            first=batch.first,
            defaults={"run": batch.run, "last": batch.last, "events": list(batch.events)},
        )


def abandoned(stream: UUID) -> Any:
    """The runs of the stream that are marked as going although their lease has expired."""
    return Run.objects.filter(stream=stream, status__in=Run.GOING, beat_at__lt=oldest_beat())


def oldest_beat() -> datetime:
    return timezone.now() - timedelta(seconds=settings.RUN_LEASE_SECONDS)


def delete(stream: UUID) -> None:
    """Forget a stream. A process that still works in it loses the lease and stops."""
    JournalEntry.objects.filter(stream=stream).delete()
    Run.objects.filter(stream=stream).delete()
