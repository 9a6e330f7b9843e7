"""Reads, searches and changes memories that are stored in this installation's own database."""

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
from apps.accounts.legal_holds import is_held, refusal
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.local import pgvector
from apps.workspace.local.memories.memory_rows import (
    memory_of_row,
    merge_of,
    read_rows,
    write_merges,
    write_rows,
)
from apps.workspace.local.memories.remembered import (
    MemoryCollection,
    MemoryMerge,
    StoredMemory,
    settings_of,
)
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.limits import MERGES_KEPT_DAYS
from apps.workspace.memories.port import (
    UNKNOWN,
    Change,
    MemoryHit,
    MemoryIndex,
    MemoryList,
    MergedMemories,
)
from apps.workspace.memories.similarity import index_of, letters_in_common

T = TypeVar("T")

MOST_MEMORIES = 10_000
"""The maximum number of memories per owner. At this size, an exact search takes less than a
millisecond, and a search for duplicates about a second.
"""


@dataclass(frozen=True, slots=True)
class LocalMemories:
    """The memories of one owner in one application, or in all applications if `application` is "".
    The fields correspond to the fields of `MemoryCollection`.
    """

    bucket: str
    application: str
    end_user: str = ""

    @property
    def most(self) -> int:
        return MOST_MEMORIES

    async def load(self) -> MemoryList:
        found: MemoryList = await database_sync_to_async(self.read)()
        return found

    async def index(self) -> MemoryIndex | None:
        found: MemoryIndex | None = await database_sync_to_async(self.read_index)()
        return found

    async def change(self, change: Change[T]) -> T:
        result: T = await database_sync_to_async(self.apply)(change)
        return result

    async def merges(self) -> Sequence[MergedMemories]:
        found: list[MergedMemories] = await database_sync_to_async(self.read_merges)()
        return found

    async def delete_all(self) -> None:
        await database_sync_to_async(self.delete)()

    def rows(self) -> QuerySet[MemoryCollection]:
        return MemoryCollection.objects.filter(
            bucket=self.bucket, application=self.application, end_user=self.end_user
        )

    def read(self) -> MemoryList:
        row = self.rows().first()
        return MemoryList() if row is None else self.read_row(row)

    def read_index(self) -> MemoryIndex | None:
        """Return an index for searching the memories, or None if there are none. If the collection
        is not cached and pgvector is usable, the index searches the database.
        """
        row = self.rows().first()
        if row is None:
            return None
        if self.cached(row) is None and pgvector.is_prepared(StoredMemory):
            return RowIndex(row) if row.memories.exists() else None
        return index_of(self.read_row(row))

    def cached(self, row: MemoryCollection) -> MemoryList | None:
        """Return the cached memories, or None if the version of `row` is not cached."""
        found = CACHE.get(self)
        return found[1] if found is not None and found[0] == (row.pk, row.version) else None

    def read_row(self, row: MemoryCollection) -> MemoryList:
        if (found := self.cached(row)) is not None:
            return found
        # The version is read before the rows, so the cache never has old rows under a new version.
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
            is_shorter = len(after.memories) < len(before.memories)
            if is_shorter and not changed.merged and is_held(self.bucket):
                raise MemoryRefused("", refusal())
            write_rows(row, before, after)
            write_merges(row, changed)
        CACHE.put(self, (row.pk, row.version), after)
        return changed.result

    def read_merges(self) -> list[MergedMemories]:
        since = timezone.now() - timedelta(days=MERGES_KEPT_DAYS)
        rows = MemoryMerge.objects.filter(
            collection__in=self.rows(), merged_at__gte=since
        ).order_by("pk")
        return [merge_of(row) for row in rows]

    def delete(self) -> None:
        if is_held(self.bucket):
            raise MemoryRefused("", refusal())
        with transaction.atomic():
            # Lock first, so that no memory is added to a collection while it is being deleted.
            found = self.rows().select_for_update().first()
            if found is not None:
                found.delete()
        CACHE.drop(self)


def memories_of(row: MemoryCollection) -> LocalMemories:
    return LocalMemories(row.bucket, row.application, row.end_user)


def find_memories(caller: Caller, application: str, *, is_shared: bool) -> LocalMemories | None:
    """Return the caller's memories in an application, or None if nothing is remembered about the
    caller.

    If both the application (`is_shared`) and the user share memories, return the memories of all
    applications.
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


@dataclass(frozen=True, slots=True)
class RowIndex:
    """Searches one version of a collection in the database, and loads only the memories that match
    best.
    """

    row: MemoryCollection

    async def nearest(
        self, query: str, embedding: Embeddings, limit: int
    ) -> list[MemoryHit] | None:
        if self.row.model != embedding.model or embedding.unknown_shares[0] > UNKNOWN:
            return None
        found: list[MemoryHit] | None = await database_sync_to_async(self.search)(
            query, embedding, limit
        )
        return found

    def search(self, query: str, embedding: Embeddings, limit: int) -> list[MemoryHit] | None:
        """Return up to `limit` memories most similar to the query, best first, or None if the
        database cannot search them or they changed in the meantime.
        """
        rows = StoredMemory.objects.filter(
            collection=self.row, collection__version=self.row.version
        )
        known = rows.filter(unknown_share__lte=UNKNOWN).defer("vector")
        vector = embedding.vectors[0].tobytes()
        alike = pgvector.nearest(known, vector, limit)
        if alike is None:
            pgvector.fill_column(StoredMemory.objects.filter(collection=self.row))
            alike = pgvector.nearest(known, vector, limit)
        if alike is None:
            return None
        scored = [*alike, *by_letters(rows.filter(unknown_share__gt=UNKNOWN), query)]
        scored.sort(key=lambda one: (-one[1], one[0].number))
        return [MemoryHit(memory_of_row(row), score) for row, score in scored[:limit]] or None


def by_letters(rows: QuerySet[StoredMemory], query: str) -> list[tuple[StoredMemory, float]]:
    return [(row, letters_in_common(row.content, query)) for row in rows.defer("vector")]
