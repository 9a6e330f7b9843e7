"""Compacts the rows of runs that ended more than 30 days ago.

Compaction joins events into few rows, compresses steps and model requests, and deletes manifests.
Pages show compacted runs unchanged.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, QuerySet
from django.utils import timezone

from apps.live.history.packing import is_packed, pack, pack_object
from apps.live.history.sent_requests import digests_in
from apps.live.journal import journal
from apps.live.models import JournalEntry, KeptManifest, Run, RunStep, SentPart, SentRequestRow
from apps.old_rows import AT_ONCE

COMPACTED_AFTER = timedelta(days=30)
LARGEST_SPAN = 100_000
"""A joined journal row spans up to this many event numbers. Text uses one number per character, so
this is roughly the row's length in characters.
"""


def compact_old() -> int:
    """Compact the runs that ended more than `COMPACTED_AFTER` ago, and return their number."""
    before = timezone.now() - COMPACTED_AFTER
    # Compacted runs have no manifest.
    old = Run.objects.filter(manifest__isnull=False, finished_at__lt=before)
    old = old.exclude(status__in=Run.OPEN)
    compacted = 0
    while keys := list(old.values_list("pk", flat=True)[:AT_ONCE]):
        for key in keys:
            compact(old, key)
        compacted += len(keys)
    delete_unused_manifests()
    return compacted


@transaction.atomic
def compact(old: QuerySet[Run], key: UUID) -> None:
    run = old.select_for_update(of=("self",)).filter(pk=key).first()
    if run is None:  # Another process compacted it first.
        return
    for entries in neighbours(run):
        join(entries)
    for step in RunStep.objects.filter(run=run):
        step.result = pack_object(step.read_result())
        step.save(update_fields=["result"])
    pack_requests(run)
    run.manifest = None
    run.save(update_fields=["manifest"])


def neighbours(run: Run) -> Iterator[list[JournalEntry]]:
    """Yield lists of journal rows that are consecutive and can be joined into one row."""
    found: list[JournalEntry] = []
    for entry in JournalEntry.objects.filter(run=run.pk).order_by("first"):
        if found and not (
            entry.first == found[-1].last + 1 and entry.last - found[0].first < LARGEST_SPAN
        ):
            yield found
            found = []
        found.append(entry)
    if found:
        yield found


def join(entries: list[JournalEntry]) -> None:
    if len(entries) == 1:
        return
    first = entries[0]
    events = (event for entry in entries for event in journal.read_entry(entry))
    joined = journal.entry_of(first.stream, first.run, first.first, events)
    JournalEntry.objects.filter(pk__in=[entry.pk for entry in entries]).delete()
    joined.save(force_insert=True)


def pack_requests(run: Run) -> None:
    """Compress the stored messages and tools of the run's model requests. Later requests in the
    conversation can still refer to them.
    """
    members = SentRequestRow.objects.filter(run=run.pk).values_list("members", flat=True)
    digests = {digest for one in members for digest in digests_in(one)}
    for part in SentPart.objects.filter(stream=run.stream, digest__in=digests):
        if not is_packed(part.text):
            part.text = pack(part.text)
            part.save(update_fields=["text"])


def delete_unused_manifests() -> None:
    for manifest in KeptManifest.objects.filter(runs=None).only("pk"):
        # A run that is just starting has locked the row.
        with suppress(IntegrityError, ProtectedError), transaction.atomic():
            manifest.delete()
