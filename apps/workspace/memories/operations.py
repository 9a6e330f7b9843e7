"""Implements the operations on memories that their owner, or an application on the owner's behalf,
can request.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from django.utils.translation import gettext

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.embeddings.vectors import join_embeddings
from apps.workspace.memories import document, edits
from apps.workspace.memories.edits import OutdatedVectors
from apps.workspace.memories.errors import MemoryMissing
from apps.workspace.memories.port import (
    Change,
    ChangedMemories,
    MemoryHit,
    MemoryItem,
    MemoryList,
    MemoryStore,
    MergedMemories,
)
from apps.workspace.memories.similarity import nearest_memories

T = TypeVar("T")

ATTEMPTS = 5
"""A change is attempted up to this many times, because other processes may change the memories'
vectors in the meantime.
"""
BATCH = 64
"""The number of texts that are embedded in one batch."""


async def list_memories(store: MemoryStore) -> tuple[MemoryItem, ...]:
    """Return all memories, in the order in which they were stored."""
    return (await store.load()).memories


async def most_important(store: MemoryStore, limit: int) -> list[MemoryItem]:
    """Return up to `limit` of the most important memories. Equally important memories are sorted by
    age, newest first.
    """
    memories = await list_memories(store)
    return sorted(memories, key=lambda one: (one.importance, one.id), reverse=True)[:limit]


async def search(store: MemoryStore, embedder: Embedder, query: str, limit: int) -> list[MemoryHit]:
    """Return up to `limit` memories most similar to the query, best first."""
    index = await store.index()
    if index is None or limit < 1:
        return []
    embedding = await embedder.embed([query])
    found = await index.nearest(query, embedding, limit)
    if found is None:
        found = nearest_memories(
            await up_to_date(store, embedder, embedding), query, embedding, limit
        )
    return found


async def add(
    store: MemoryStore,
    embedder: Embedder,
    memory: MemoryItem,
    categories: Sequence[str] | None = None,
) -> MemoryItem:
    """Store a memory, and return it with its ID. Raises `MemoryRefused` if it is invalid or the
    collection is full.
    """
    checked = edits.check_memory(memory, categories)
    made = await embedder.embed([checked.content])
    (added,) = await added_with(store, embedder, [checked], made)
    return added


def new_memory(content: str, **fields: Any) -> MemoryItem:
    """Return a new memory without storing it. Its ID is the current Unix time in seconds."""
    return MemoryItem(int(time.time()), content, **fields)


async def added_with(
    store: MemoryStore, embedder: Embedder, memories: Sequence[MemoryItem], made: Embeddings
) -> tuple[MemoryItem, ...]:
    """Store memories with their embeddings `made`, and return them with their IDs. Raises
    `MemoryRefused` if the collection is full.
    """

    def change(collection: MemoryList) -> ChangedMemories[tuple[MemoryItem, ...]]:
        return edits.with_added(collection, memories, made, store.most)

    return await apply_change(store, embedder, made, change)


async def update(
    store: MemoryStore,
    embedder: Embedder,
    id: int,
    fields: Mapping[str, Any],
    categories: Sequence[str] | None = None,
) -> MemoryItem:
    """Change the `content`, `importance`, `category` or `topics` of the memory `id`, and return it.
    Raises `MemoryMissing` if there is none, and `MemoryRefused` if a field is invalid.
    """
    made = None
    if "content" in fields:
        content = edits.check_memory(MemoryItem(0, fields["content"])).content
        made = await embedder.embed([content])

    def change(collection: MemoryList) -> ChangedMemories[MemoryItem]:
        return edits.with_fields(collection, id, fields, made, categories)

    return await apply_change(store, embedder, made, change)


async def forget_memory(store: MemoryStore, id: int) -> MemoryItem:
    """Delete the memory `id` together with the originals that were merged into it, and return it.
    Raises `MemoryMissing` if there is none.
    """
    merges = await store.merges()
    undone = frozenset(merge.id for merge in merges if merge.survivor == id)

    def change(collection: MemoryList) -> ChangedMemories[MemoryItem]:
        found = collection.memories[edits.position_of(collection, id)]
        return ChangedMemories(edits.without(collection, {id}), found, undone=undone)

    return await store.change(change)


async def delete_all(store: MemoryStore) -> None:
    await store.delete_all()


async def merges(store: MemoryStore) -> Sequence[MergedMemories]:
    """Return the merges that can be undone, oldest first."""
    return await store.merges()


async def undo(store: MemoryStore, embedder: Embedder, id: int) -> tuple[MemoryItem, ...]:
    """Undo a merge: replace the merged memory with its originals, and return them.

    The originals are not merged again. Raises `MemoryMissing` if there is no such merge, and
    `MemoryRefused` if the collection would exceed its limit.
    """
    merge = next((merge for merge in await store.merges() if merge.id == id), None)
    if merge is None:
        raise MemoryMissing(
            "id", gettext("Merge {id} doesn’t exist or was already undone.").format(id=id)
        )
    originals = [replace(memory, is_separate=True) for memory in merge.originals]
    made = await embedder.embed([memory.content for memory in originals])

    def change(collection: MemoryList) -> ChangedMemories[tuple[MemoryItem, ...]]:
        if not edits.are_comparable(collection, made):
            raise OutdatedVectors
        rest = edits.without(collection, {merge.survivor})
        added = edits.with_added(rest, originals, made, store.most)
        return replace(added, undone=frozenset({id}))

    return await apply_change(store, embedder, made, change)


async def export(store: MemoryStore) -> bytes:
    """Return all memories as JSON, in the format that `import_` reads."""
    collection = await store.load()
    return await asyncio.to_thread(document.write_export, collection, datetime.now(UTC))


async def import_(store: MemoryStore, embedder: Embedder, content: bytes) -> int:
    """Add the memories in an export whose content is not yet in the collection. Return the number
    of added memories.

    Raises `MemoryRefused` if the file or a memory is invalid, or if the collection would exceed its
    limit.
    """
    memories = await asyncio.to_thread(document.read_import, content)
    contents = {memory.content for memory in (await store.load()).memories}
    new = list({one.content: one for one in memories if one.content not in contents}.values())
    if not new:
        return 0
    made = await embed_memories(embedder, new)

    def change(collection: MemoryList) -> ChangedMemories[int]:
        return edits.with_missing(collection, new, made, store.most)

    return await apply_change(store, embedder, made, change)


async def apply_change(
    store: MemoryStore, embedder: Embedder, made: Embeddings | None, change: Change[T]
) -> T:
    """Apply a change. If it adds the vectors `made`, and the collection's vectors come from another
    model, recompute the collection's vectors first.
    """
    for _ in range(ATTEMPTS):
        try:
            return await store.change(change)
        except OutdatedVectors:
            if made is None:
                raise
            await up_to_date(store, embedder, made)
    raise busy()


async def up_to_date(store: MemoryStore, embedder: Embedder, sample: Embeddings) -> MemoryList:
    """Return the collection with vectors that can be compared with the vectors of `sample`. If the
    collection's vectors come from another model, recompute all of them.
    """
    for _ in range(ATTEMPTS):
        collection = await store.load()
        if edits.are_comparable(collection, sample):
            return collection
        made = await embed_memories(embedder, collection.memories)
        await store.change(
            partial(edits.with_vectors, memories=collection.memories, embeddings=made)
        )
    raise busy()


async def embed_memories(embedder: Embedder, memories: Sequence[MemoryItem]) -> Embeddings:
    """Compute the embeddings of the memories' contents in batches."""
    texts = [memory.content for memory in memories]
    starts = range(0, len(texts), BATCH)
    parts = [await embedder.embed(texts[start : start + BATCH]) for start in starts]
    return join_embeddings(parts)


def busy() -> ServiceFailed:
    return ServiceFailed(
        gettext("Your memories are being changed by another request. Try again."), reason="status"
    )
