"""Search among the memories of one owner by the database, which reads no others and sends the best."""

from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.db.models import QuerySet

from apps.workspace.embeddings.port import Embeddings
from apps.workspace.local import pgvector
from apps.workspace.local.memory_rows import memory_of_row
from apps.workspace.local.remembered import MemoryCollection, StoredMemory
from apps.workspace.memories.port import UNKNOWN, Hit
from apps.workspace.memories.similarity import letters_in_common


@dataclass(frozen=True, slots=True)
class RowIndex:
    """The memories of one version of a collection."""

    row: MemoryCollection

    async def nearest(self, query: str, asked: Embeddings, limit: int) -> list[Hit] | None:
        if self.row.model != asked.model or asked.unknown_shares[0] > UNKNOWN:
            return None
        found: list[Hit] | None = await database_sync_to_async(self.search)(query, asked, limit)
        return found

    def search(self, query: str, asked: Embeddings, limit: int) -> list[Hit] | None:
        """None as well if the memories were changed meanwhile."""
        rows = StoredMemory.objects.filter(
            collection=self.row, collection__version=self.row.version
        )
        known = rows.filter(unknown_share__lte=UNKNOWN).defer("vector")
        vector = asked.vectors[0].tobytes()
        alike = pgvector.nearest(known, vector, limit)
        if alike is None:
            pgvector.fill(StoredMemory.objects.filter(collection=self.row))
            alike = pgvector.nearest(known, vector, limit)
        if alike is None:
            return None
        scored = [*alike, *by_letters(rows.filter(unknown_share__gt=UNKNOWN), query)]
        scored.sort(key=lambda one: (-one[1], one[0].number))
        return [Hit(memory_of_row(row), score) for row, score in scored[:limit]] or None


def by_letters(rows: QuerySet[StoredMemory], query: str) -> list[tuple[StoredMemory, float]]:
    return [(row, letters_in_common(row.content, query)) for row in rows.defer("vector")]
