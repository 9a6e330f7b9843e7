"""What the owner of memories can do with them, and what an application does for the owner."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from django.utils.translation import gettext

from apps.errors import MemoryMissing, ServiceFailed
from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.embeddings.vectors import joined
from apps.workspace.memories import document, edits
from apps.workspace.memories.edits import OutdatedVectors
from apps.workspace.memories.port import (
    Change,
    Changed,
    Collection,
    Hit,
    Memory,
    MemoryStore,
    Merge,
)
from apps.workspace.memories.search import nearest

T = TypeVar("T")

ATTEMPTS = 5
"""To bring all vectors of a collection up to date while others change it."""
BATCH = 64
"""Texts that are embedded at once."""


async def list_memories(store: MemoryStore) -> tuple[Memory, ...]:
    """All of them, in the order in which they were stored."""
    return (await store.load()).memories


async def most_important(store: MemoryStore, limit: int) -> list[Memory]:
    """The most important memories; of equally important ones the newest come first."""
    memories = await list_memories(store)
    return sorted(memories, key=lambda one: (one.importance, one.id), reverse=True)[:limit]


async def search(store: MemoryStore, embedder: Embedder, query: str, limit: int) -> list[Hit]:
    """The memories most like the query, the best first."""
    index = await store.index()
    if index is None or limit < 1:
        return []
    asked = await embedder.embed([query])
    found = await index.nearest(query, asked, limit)
    if found is None:
        found = nearest(await up_to_date(store, embedder, asked), query, asked, limit)
    return found


async def add(
    store: MemoryStore,
    embedder: Embedder,
    memory: Memory,
    categories: Sequence[str] | None = None,
) -> Memory:
    """Store a memory, whose `id` is the second of now. Raises `MemoryRefused`."""
    checked = edits.checked(memory, categories)
    made = await embedder.embed([checked.content])
    (added,) = await added_with(store, embedder, [checked], made)
    return added


def new_memory(content: str, **fields: Any) -> Memory:
    """A memory of this second, which is not stored yet."""
    return Memory(int(time.time()), content, **fields)


async def added_with(
    store: MemoryStore, embedder: Embedder, memories: Sequence[Memory], made: Embeddings
) -> tuple[Memory, ...]:
    """Raises `MemoryRefused`."""

    def change(collection: Collection) -> Changed[tuple[Memory, ...]]:
        return edits.with_added(collection, memories, made, store.most)

    return await changed(store, embedder, made, change)


async def update(
    store: MemoryStore,
    embedder: Embedder,
    id: int,
    fields: Mapping[str, Any],
    categories: Sequence[str] | None = None,
) -> Memory:
    """Change `content`, `importance`, `category` or `topics` of a memory. Raises `MemoryRefused`."""
    made = None
    if "content" in fields:
        content = edits.checked(Memory(0, fields["content"])).content
        made = await embedder.embed([content])

    def change(collection: Collection) -> Changed[Memory]:
        return edits.with_fields(collection, id, fields, made, categories)

    return await changed(store, embedder, made, change)


async def forget(store: MemoryStore, id: int) -> Memory:
    """Delete a memory, and the originals that were merged into it. Raises `MemoryMissing`."""
    merges = await store.merges()
    undone = frozenset(merge.id for merge in merges if merge.survivor == id)

    def change(collection: Collection) -> Changed[Memory]:
        found = collection.memories[edits.place_of(collection, id)]
        return Changed(edits.without(collection, {id}), found, undone=undone)

    return await store.change(change)


async def delete_all(store: MemoryStore) -> None:
    await store.delete_all()


async def merges(store: MemoryStore) -> Sequence[Merge]:
    """The merges that can be undone, the oldest first."""
    return await store.merges()


async def undo(store: MemoryStore, embedder: Embedder, id: int) -> tuple[Memory, ...]:
    """Put the originals of a merge in the place of the merged memory; return them.

    They are not merged again. Raises `MemoryMissing` for an unknown merge, `MemoryRefused`.
    """
    merge = next((merge for merge in await store.merges() if merge.id == id), None)
    if merge is None:
        raise MemoryMissing(
            "id", gettext("There is no merge {id} that could be undone.").format(id=id)
        )
    originals = [replace(memory, is_separate=True) for memory in merge.originals]
    made = await embedder.embed([memory.content for memory in originals])

    def change(collection: Collection) -> Changed[tuple[Memory, ...]]:
        if not edits.fits(collection, made):
            raise OutdatedVectors
        rest = edits.without(collection, {merge.survivor})
        added = edits.with_added(rest, originals, made, store.most)
        return replace(added, undone=frozenset({id}))

    return await changed(store, embedder, made, change)


async def export(store: MemoryStore) -> bytes:
    """All memories as JSON, in the form that `import_` reads."""
    collection = await store.load()
    return await asyncio.to_thread(document.write_export, collection, datetime.now(UTC))


async def import_(store: MemoryStore, embedder: Embedder, content: bytes) -> int:
    """Add the memories of an export that are not there yet; return how many these were.

    A memory is there if one has the same content. Raises `MemoryRefused`.
    """
    given = await asyncio.to_thread(document.read_import, content)
    known = {memory.content for memory in (await store.load()).memories}
    new = list({one.content: one for one in given if one.content not in known}.values())
    if not new:
        return 0
    made = await embedded(embedder, new)

    def change(collection: Collection) -> Changed[int]:
        return edits.with_missing(collection, new, made, store.most)

    return await changed(store, embedder, made, change)


async def changed(
    store: MemoryStore, embedder: Embedder, made: Embeddings | None, change: Change[T]
) -> T:
    """Apply a change that brings vectors of the embedder: `made` is an example of them, if any."""
    for _ in range(ATTEMPTS):
        try:
            return await store.change(change)
        except OutdatedVectors:
            if made is None:
                raise
            await up_to_date(store, embedder, made)
    raise busy()


async def up_to_date(store: MemoryStore, embedder: Embedder, sample: Embeddings) -> Collection:
    """The collection with vectors that can be compared with those of the `sample`.

    All are made anew if the collection has those of another model.
    """
    for _ in range(ATTEMPTS):
        collection = await store.load()
        if edits.fits(collection, sample):
            return collection
        made = await embedded(embedder, collection.memories)
        await store.change(
            partial(edits.with_vectors, memories=collection.memories, embeddings=made)
        )
    raise busy()


async def embedded(embedder: Embedder, memories: Sequence[Memory]) -> Embeddings:
    """The embeddings of the contents of any number of memories."""
    texts = [memory.content for memory in memories]
    starts = range(0, len(texts), BATCH)
    parts = [await embedder.embed(texts[start : start + BATCH]) for start in starts]
    return joined(parts)


def busy() -> ServiceFailed:
    return ServiceFailed(
        gettext("The memories are being changed by others. Try again."), reason="status"
    )
