"""Memories in our own database."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from channels.db import database_sync_to_async
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.workspace.local import pgvector
from apps.workspace.local.memory_index import RowIndex
from apps.workspace.local.memory_rows import merge_of, read_rows, write_merges, write_rows
from apps.workspace.local.remembered import (
    MemoryCollection,
    MemoryMerge,
    StoredMemory,
    settings_of,
)
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.limits import MERGES_KEPT_DAYS
from apps.workspace.memories.port import Change, Collection, MemoryIndex, Merge
from apps.workspace.memories.search import index_of

T = TypeVar("T")

MOST_MEMORIES = 10_000
"""Of one owner: exact search stays below a millisecond, and looking for duplicates about a second."""


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

    async def index(self) -> MemoryIndex | None:
        found: MemoryIndex | None = await database_sync_to_async(self.read_index)()
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

    def read_index(self) -> MemoryIndex | None:
        """The database searches what is not in the cache, if it can."""
        row = self.rows().first()
        if row is None:
            return None
        if self.kept(row) is None and pgvector.is_prepared(StoredMemory):
            return RowIndex(row) if row.memories.exists() else None
        return index_of(self.read_row(row))

    def kept(self, row: MemoryCollection) -> Collection | None:
        """The collection in the cache, if that has this version of it."""
        found = CACHE.get(self)
        return found[1] if found is not None and found[0] == (row.pk, row.version) else None

    def read_row(self, row: MemoryCollection) -> Collection:
        if (kept := self.kept(row)) is not None:
            return kept
        # The version is older than the rows or of the same age, so the cache never has old rows
        # under a new version.
        collection = read_rows(row)
        CACHE.put(self, (row.pk, row.version), collection)
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
