"""Reads and writes the journal, in which the events of runs are numbered within their stream.

All functions are synchronous and short, and run on a database thread. No transaction is open during
a model or tool call.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.live import events
from apps.live.consents import forget_stream
from apps.live.events import NumberedEvent, StreamEvent
from apps.live.models import JournalEntry, Run, SentPart, SentRequestRow

READ_ENTRIES = 50
"""The maximum number of journal rows per query. It limits the memory used for a viewer that lags
far behind.
"""
GAP = 1_000_000
"""The number of event numbers to skip when another process resumes a run. Viewers may have seen
events with these numbers that were never stored.
"""


def last_number(stream: UUID) -> int:
    """Return the number of the stream's newest event, or 0 if there is none."""
    entries = JournalEntry.objects.filter(stream=stream).order_by("-last")
    return entries.values_list("last", flat=True).first() or 0


def read(stream: UUID, after: int) -> list[NumberedEvent]:
    """Return the oldest events after the number `after`, in order. Call the function again for
    later events.
    """
    entries = JournalEntry.objects.filter(stream=stream, last__gt=after).order_by("last")
    return [said for entry in entries[:READ_ENTRIES] for said in following(entry, after)]


def following(entry: JournalEntry, after: int) -> Iterator[NumberedEvent]:
    number = entry.first - 1
    for event in read_entry(entry):
        size = events.length(event)
        number += size
        if number - size < after < number:
            event = events.after(event, after - (number - size))
        if number > after:
            yield number, entry.run, event


def read_entry(entry: JournalEntry) -> Iterator[StreamEvent]:
    return map(events.read, entry.events)


def read_run(run: UUID, until: int | None = None) -> list[StreamEvent]:
    """Return the run's events. With `until`, return only the events in journal rows whose last
    number is at most `until`.
    """
    # A filter by stream would make SQLite search all entries of the stream.
    entries = JournalEntry.objects.filter(run=run).order_by("first")
    if until is not None:
        entries = entries.filter(last__lte=until)
    return [event for entry in entries for event in read_entry(entry)]


def read_runs(runs: Iterable[UUID]) -> dict[UUID, list[StreamEvent]]:
    """Return the events of these runs, grouped by run, with one query. Runs without events are
    omitted.
    """
    found: dict[UUID, list[StreamEvent]] = {}
    for entry in JournalEntry.objects.filter(run__in=runs).order_by("first"):
        found.setdefault(entry.run, []).extend(read_entry(entry))
    return found


def first_number(run: UUID) -> int | None:
    """Return the number of the run's first stored event, or None."""
    entries = JournalEntry.objects.filter(run=run).order_by("first")
    return entries.values_list("first", flat=True).first()


def entry_of(stream: UUID, run: UUID, first: int, said: Iterable[StreamEvent]) -> JournalEntry:
    """Return an unsaved row with these events. The first event has the number `first`."""
    numbered: list[NumberedEvent] = []
    number = first - 1
    for event in said:
        number += events.length(event)
        numbered.append((number, run, event))
    written = [events.write(event) for _, _, event in events.join_texts(numbered)]
    return JournalEntry(stream=stream, run=run, first=first, last=number, events=written)


def add(
    stream: UUID, run: UUID, said: Sequence[StreamEvent], *, gap: int = 0, is_new: bool = False
) -> int:
    """Append events to the stream, and return the number that precedes the first event's number.
    `gap` is the number of event numbers to skip. With `is_new`, the stream must be empty, and the
    query for its last number is omitted.
    """
    before = gap if is_new else last_number(stream) + gap
    entry_of(stream, run, before + 1, said).save(force_insert=True)
    return before


def has_entry(entry: JournalEntry) -> bool:
    rows: QuerySet[Any] = JournalEntry.objects.filter(stream=entry.stream, first=entry.first)
    return rows.filter(run=entry.run, last=entry.last).exists()


def delete_run(stream: UUID, run: UUID) -> None:
    """Delete the events and model requests of an ended run. Its event numbers are not reused."""
    JournalEntry.objects.filter(stream=stream, run=run).delete()
    SentRequestRow.objects.filter(run=run).delete()
    Run.objects.filter(pk=run).delete()


def delete(stream: UUID) -> None:
    """Delete a stream with its runs. A process that is still executing one of the runs loses its
    lease and stops the run.
    """
    JournalEntry.objects.filter(stream=stream).delete()
    Run.objects.filter(stream=stream).delete()
    forget_stream(stream)
    SentRequestRow.objects.filter(stream=stream).delete()
    SentPart.objects.filter(stream=stream).delete()
