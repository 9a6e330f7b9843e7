"""Reads memory collections from database rows, and writes the rows that have changed."""

import uuid
from collections.abc import Iterable, Sequence
from operator import is_
from typing import TypeVar

import msgspec
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from apps import lazy_numpy as np
from apps.workspace.embeddings.port import Vectors
from apps.workspace.local import pgvector
from apps.workspace.local.memories.remembered import MemoryCollection, MemoryMerge, StoredMemory
from apps.workspace.memories.document import MemoryEntry, entry_of, memory_of
from apps.workspace.memories.port import (
    ChangedMemories,
    MemoryItem,
    MemoryList,
    MergedMemories,
    no_vectors,
)

T = TypeVar("T")

FIELDS = ("content", "importance", "category", "topics", "unknown_share", "is_separate")


def read_rows(row: MemoryCollection) -> MemoryList:
    rows = list(row.memories.order_by("number"))
    vectors = read_vectors([bytes(one.vector) for one in rows])
    return MemoryList(
        tuple(map(memory_of_row, rows)),
        no_vectors() if vectors is None else vectors,
        "" if vectors is None else row.model,
        row.deduplicated_at,
    )


def read_vectors(stored: Sequence[bytes]) -> Vectors | None:
    """Return the stored vectors as a matrix, or None if their lengths differ or there are none."""
    if len({len(vector) for vector in stored}) != 1:
        return None
    vectors: Vectors = np.frombuffer(b"".join(stored), np.float32).reshape(len(stored), -1)
    return vectors


def memory_of_row(row: StoredMemory) -> MemoryItem:
    return MemoryItem(
        row.number,
        row.content,
        row.importance,
        row.category,
        tuple(row.topics),
        row.unknown_share,
        row.is_separate,
    )


def write_rows(row: MemoryCollection, before: MemoryList, after: MemoryList) -> None:
    """Write the memories that differ between `before` and `after`, and give the collection a new
    version.
    """
    positions: Iterable[int] = range(len(before.memories), len(after.memories))
    if not is_longer(before, after):  # Most changes add one memory.
        positions = new_positions(before, after)
        gone = {one.id for one in before.memories} - {one.id for one in after.memories}
        row.memories.filter(number__in=gone).delete()
    new = [stored_memory(row, after.memories[n], after.vectors[n]) for n in positions]
    StoredMemory.objects.bulk_create(
        new,
        batch_size=500,
        update_conflicts=True,
        unique_fields=("collection", "number"),
        update_fields=(*FIELDS, "vector"),
    )
    if pgvector.is_prepared(StoredMemory):
        pgvector.write(StoredMemory, [(one.pk, one.vector) for one in new], DEFAULT_DB_ALIAS)
    row.version = uuid.uuid4()
    # Every write runs this statement, which is cheaper than saving the row.
    MemoryCollection.objects.filter(pk=row.pk).update(
        model=after.model,
        deduplicated_at=after.deduplicated_at,
        version=row.version,
        updated_at=timezone.now(),
    )


def new_positions(before: MemoryList, after: MemoryList) -> Iterable[int]:
    """Return the positions in `after` of the memories that have to be written."""
    if is_new_model(before, after):
        return range(len(after.memories))
    known = set(map(id, before.memories))
    return [position for position, memory in enumerate(after.memories) if id(memory) not in known]


def is_longer(before: MemoryList, after: MemoryList) -> bool:
    """Return True if memories were only added at the end, and all old memories and vectors are
    unchanged.
    """
    if len(after.memories) < len(before.memories) or is_new_model(before, after):
        return False
    return all(map(is_, before.memories, after.memories))


def is_new_model(before: MemoryList, after: MemoryList) -> bool:
    return (before.model, before.vectors.shape[1:]) != (after.model, after.vectors.shape[1:])


def stored_memory(row: MemoryCollection, memory: MemoryItem, vector: Vectors) -> StoredMemory:
    fields = {name: getattr(memory, name) for name in FIELDS}
    fields["topics"] = list(memory.topics)
    return StoredMemory(collection=row, number=memory.id, vector=vector.tobytes(), **fields)


def write_merges(row: MemoryCollection, changed: ChangedMemories[T]) -> None:
    if changed.undone:
        row.merges.filter(number__in=changed.undone).delete()
    if not changed.merged:
        return
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


def merge_of(row: MemoryMerge) -> MergedMemories:
    originals = msgspec.convert(row.originals, list[MemoryEntry])
    return MergedMemories(row.number, row.survivor, row.merged_at, tuple(map(memory_of, originals)))
