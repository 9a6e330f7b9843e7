"""Merges memories with a similar meaning into one memory, which contains all of their texts.

Similar memories are not always equal: "the meeting is on Monday" and "… on Tuesday" have a cosine
similarity of 0.97 with all-MiniLM-L6-v2. Therefore, no text is dropped, and the owner can undo a
merge.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.workspace.embeddings.port import Embedder, Embeddings, Vectors
from apps.workspace.memories.edits import OutdatedVectors, are_comparable, without
from apps.workspace.memories.limits import MERGED_CHARACTERS, MOST_TOPICS
from apps.workspace.memories.operations import embed_memories
from apps.workspace.memories.port import (
    UNKNOWN,
    ChangedMemories,
    MemoryItem,
    MemoryList,
    MemoryStore,
    MergedMemories,
)
from apps.workspace.memories.similarity import neighbours

SIMILAR = 0.75
"""The cosine similarity above which two memories are duplicates."""
FEWEST = 10
"""The number of memories that a collection must exceed before duplicates are searched for."""
INTERVAL = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """A group of duplicates. `merged` replaces the `originals`, at the position of the first one."""

    originals: tuple[MemoryItem, ...]
    merged: MemoryItem


def is_due(collection: MemoryList, now: datetime) -> bool:
    before = collection.deduplicated_at
    is_long_ago = before is None or now - before > INTERVAL
    return len(collection.memories) > FEWEST and is_long_ago


async def deduplicate(store: MemoryStore, embedder: Embedder, now: datetime) -> int:
    """Search for duplicates if a search is due, and merge them. Return the number of memories that
    were merged into others.

    Memories that changed in the meantime are not merged.
    """
    collection = await store.load()
    if not is_due(collection, now):
        return 0
    found = await asyncio.to_thread(find_duplicates, collection)
    made = await embed_memories(embedder, [one.merged for one in found]) if found else None
    try:
        return await store.change(lambda newest: with_merged(newest, found, made, now))
    except OutdatedVectors:
        # A search recomputes the embeddings, and the next stored memory retries the merge.
        return 0


def find_duplicates(collection: MemoryList) -> list[Duplicates]:
    """Return groups of duplicates. Duplicates are merged into the most important memory, or into
    the earliest of equally important memories.

    All pairs are compared. This takes 30 ms for 1,000 memories, and about a second for 10,000.
    """
    memories = collection.memories
    order = sorted(
        range(len(memories)), key=lambda position: (-memories[position].importance, position)
    )
    ranked = [memories[position] for position in order]
    gone: set[int] = set()
    groups: dict[int, list[int]] = {}
    for rank, others in (*equal_texts(ranked), *similar_texts(ranked, collection.vectors[order])):
        if rank in gone:
            continue
        group = groups.setdefault(rank, [rank])
        for other in others:
            together = sum(len(ranked[one].content) + 1 for one in (*group, other))
            if other not in gone and together <= MERGED_CHARACTERS:
                group.append(other)
                gone.add(other)
    return [
        Duplicates(originals, merge_memories(originals))
        for group in groups.values()
        if len(group) > 1
        for originals in (tuple(ranked[rank] for rank in group),)
    ]


def equal_texts(ranked: Sequence[MemoryItem]) -> list[tuple[int, Sequence[int]]]:
    """Group the memories with equal texts whose embeddings are unusable. Each group consists of a
    position in `ranked` and the positions of its duplicates.
    """
    same: dict[str, list[int]] = {}
    for rank, memory in enumerate(ranked):
        if memory.unknown_share > UNKNOWN and not memory.is_separate:
            same.setdefault(memory.content, []).append(rank)
    return [(ranks[0], ranks[1:]) for ranks in same.values() if len(ranks) > 1]


def similar_texts(
    ranked: Sequence[MemoryItem], vectors: Vectors
) -> list[tuple[int, Sequence[int]]]:
    apart = [n for n, one in enumerate(ranked) if one.is_separate or one.unknown_share > UNKNOWN]
    vectors[apart] = 0.0
    return list(neighbours(vectors, SIMILAR))


def merge_memories(originals: Sequence[MemoryItem]) -> MemoryItem:
    """Return the first memory with the lines and topics of all memories, and their highest
    importance.
    """
    lines = (line for one in originals for line in one.content.split("\n"))
    topics = dict.fromkeys(topic for one in originals for topic in one.topics)
    return replace(
        originals[0],
        content="\n".join(dict.fromkeys(lines)),
        importance=max(one.importance for one in originals),
        topics=tuple(topics)[:MOST_TOPICS],
    )


def with_merged(
    collection: MemoryList, found: Sequence[Duplicates], made: Embeddings | None, now: datetime
) -> ChangedMemories[int]:
    """Replace each group of duplicates with its merged memory, unless one of the originals has
    changed.

    Raises `OutdatedVectors` if the new vectors come from a different model.
    """
    if made is not None and not are_comparable(collection, made):
        raise OutdatedVectors
    known = {memory.id: memory for memory in collection.memories}
    valid = [
        (number, one)
        for number, one in enumerate(found)
        if all(known.get(original.id) == original for original in one.originals)
    ]
    gone = {original.id for _, one in valid for original in one.originals[1:]}
    rest = without(collection, gone) if gone else collection
    new = {} if made is None else {one.originals[0].id: (one.merged, made, n) for n, one in valid}
    merges = [
        MergedMemories(int(now.timestamp()) + number, one.merged.id, now, one.originals)
        for number, one in valid
    ]
    changed = replace(with_survivors(rest, new), deduplicated_at=now)
    return ChangedMemories(changed, len(gone), merges)


def with_survivors(
    collection: MemoryList, new: Mapping[int, tuple[MemoryItem, Embeddings, int]]
) -> MemoryList:
    memories, vectors = list(collection.memories), collection.vectors.copy()
    for position, memory in enumerate(memories):
        if memory.id in new:
            survivor, made, number = new[memory.id]
            memories[position] = replace(survivor, unknown_share=made.unknown_shares[number])
            vectors[position] = made.vectors[number]
    return replace(collection, memories=tuple(memories), vectors=vectors)
