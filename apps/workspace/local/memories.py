"""Memories in our own database."""

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import is_
from typing import TypeVar

import msgspec
import numpy as np
from channels.db import database_sync_to_async
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.workspace.local.remembered import (
    MemoryCollection,
    MemoryMerge,
    StoredMemory,
    settings_of,
)
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.document import Entry, entry_of, memory_of
from apps.workspace.memories.limits import MERGES_KEPT_DAYS
from apps.workspace.memories.port import (
    NO_VECTORS,
    Change,
    Changed,
    Collection,
    Memory,
    Merge,
    Vectors,
)

T = TypeVar("T")

MOST_MEMORIES = 10_000
"""Of one owner: exact search stays below a millisecond, and looking for duplicates about a second."""
FIELDS = ("content", "importance", "category", "topics", "unknown_share", "is_separate")


@dataclass(frozen=True, slots=True)
class LocalMemories:
    """The fields are those of the row `MemoryCollection`."""

    bucket: str
    application: str
    end_user: str = ""

    @property
    def most(self) -> int:
        return MOST_MEMORIES

    async def load(self) -> Collection:
        found: Collection = await database_sync_to_async(self.read)()
        return found

    async def change(self, change: Change[T]) -> T:
        result: T = await database_sync_to_async(self.apply)(change)
        return result

    async def merges(self) -> Sequence[Merge]:
        found: list[Merge] = await database_sync_to_async(self.read_merges)()
        return found

    async def delete_all(self) -> None:
        await database_sync_to_async(self.delete)()

    def rows(self) -> QuerySet[MemoryCollection]:
        return MemoryCollection.objects.filter(
            bucket=self.bucket, application=self.application, end_user=self.end_user
        )

    def read(self) -> Collection:
        row = self.rows().first()
        return Collection() if row is None else self.read_row(row)

    def read_row(self, row: MemoryCollection) -> Collection:
        """The collection, from the cache if it has that version of that row."""
        kept, version = CACHE.get(self), (row.pk, row.version)
        if kept is not None and kept[0] == version:
            return kept[1]
        # The version is older than the rows or of the same age, so the cache never has old rows
        # under a new version.
        collection = read_rows(row)
        CACHE.put(self, version, collection)
        return collection

    def apply(self, change: Change[T]) -> T:
        with transaction.atomic():
            row, _ = MemoryCollection.objects.select_for_update().get_or_create(
                bucket=self.bucket, application=self.application, end_user=self.end_user
            )
            before = self.read_row(row)
            changed = change(before)
            after = changed.collection
            if after is before and not changed.merged and not changed.undone:
                return changed.result
            write_rows(row, before, after)
            write_merges(row, changed)
        CACHE.put(self, (row.pk, row.version), after)
        return changed.result

    def read_merges(self) -> list[Merge]:
        since = timezone.now() - timedelta(days=MERGES_KEPT_DAYS)
        rows = MemoryMerge.objects.filter(
            collection__in=self.rows(), merged_at__gte=since
        ).order_by("pk")
        return [merge_of(row) for row in rows]

    def delete(self) -> None:
        with transaction.atomic():
            # First the lock: nothing may be added to a collection while it is being deleted.
            found = self.rows().select_for_update().first()
            if found is not None:
                found.delete()
        CACHE.drop(self)


def read_rows(row: MemoryCollection) -> Collection:
    rows = list(row.memories.order_by("number"))
    vectors = read_vectors([bytes(one.vector) for one in rows])
    return Collection(
        tuple(map(memory_of_row, rows)),
        NO_VECTORS if vectors is None else vectors,
        "" if vectors is None else row.model,
        row.deduplicated_at,
    )


def read_vectors(stored: Sequence[bytes]) -> Vectors | None:
    """None if they are not of one length."""
    if len({len(vector) for vector in stored}) != 1:
        return None
    vectors: Vectors = np.frombuffer(b"".join(stored), np.float32).reshape(len(stored), -1)
    return vectors


def memory_of_row(row: StoredMemory) -> Memory:
    return Memory(
        row.number,
        row.content,
        row.importance,
        row.category,
        tuple(row.topics),
        row.unknown_share,
        row.is_separate,
    )


def write_rows(row: MemoryCollection, before: Collection, after: Collection) -> None:
    """Write what differs, and a new version."""
    if not is_longer(before, after):  # most changes add one
        gone = {one.id for one in before.memories} - {one.id for one in after.memories}
        row.memories.filter(number__in=gone).delete()
    new = [stored(row, after.memories[n], after.vectors[n]) for n in new_places(before, after)]
    StoredMemory.objects.bulk_create(
        new,
        batch_size=500,
        update_conflicts=True,
        unique_fields=("collection", "number"),
        update_fields=(*FIELDS, "vector"),
    )
    row.model = after.model
    row.deduplicated_at = after.deduplicated_at
    row.version = uuid.uuid4()
    row.save()


def new_places(before: Collection, after: Collection) -> Iterable[int]:
    """Where the memories are that have to be written."""
    if is_new_model(before, after):
        return range(len(after.memories))
    if is_longer(before, after):
        return range(len(before.memories), len(after.memories))
    known = set(map(id, before.memories))
    return [place for place, memory in enumerate(after.memories) if id(memory) not in known]


def is_longer(before: Collection, after: Collection) -> bool:
    """Whether memories were added at the end, if anything has changed."""
    is_shorter = len(after.memories) < len(before.memories)
    return not is_shorter and all(map(is_, before.memories, after.memories))


def is_new_model(before: Collection, after: Collection) -> bool:
    return (before.model, before.vectors.shape[1:]) != (after.model, after.vectors.shape[1:])


def stored(row: MemoryCollection, memory: Memory, vector: Vectors) -> StoredMemory:
    fields = {name: getattr(memory, name) for name in FIELDS}
    fields["topics"] = list(memory.topics)
    return StoredMemory(collection=row, number=memory.id, vector=vector.tobytes(), **fields)


def write_merges(row: MemoryCollection, changed: Changed[T]) -> None:
    if changed.undone:
        row.merges.filter(number__in=changed.undone).delete()
    MemoryMerge.objects.bulk_create(
        MemoryMerge(
            collection=row,
            number=merge.id,
            survivor=merge.survivor,
            merged_at=merge.merged_at,
            originals=msgspec.to_builtins([*map(entry_of, merge.originals)]),
        )
        for merge in changed.merged
    )


def merge_of(row: MemoryMerge) -> Merge:
    originals = msgspec.convert(row.originals, list[Entry])
    return Merge(row.number, row.survivor, row.merged_at, tuple(map(memory_of, originals)))


def memories_of(row: MemoryCollection) -> LocalMemories:
    return LocalMemories(row.bucket, row.application, row.end_user)


def find_memories(caller: Caller, application: str, *, is_shared: bool) -> LocalMemories | None:
    """The memories of the caller in an application; None for one who has none.

    Those of all applications if both it (`is_shared`) and the person want them shared.
    """
    if not caller.is_remembered:
        return None
    if caller.kind == "user" and caller.user_id is not None:
        wanted = settings_of(caller.user_id)
        if not wanted.is_enabled:
            return None
        return LocalMemories(caller.bucket, "" if is_shared and wanted.is_shared else application)
    if caller.kind == "key" and caller.bucket:
        end_user = hashlib.sha256(caller.end_user.encode()).hexdigest() if caller.end_user else ""
        return LocalMemories(caller.bucket, application, end_user)
    return None
