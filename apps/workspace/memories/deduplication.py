"""Memories that say much the same become one, which keeps the words of all of them.

Similar is not the same: "the meeting is on Monday" and "… on Tuesday" have a cosine of 0.97 under
all-MiniLM-L6-v2. So nothing is dropped, and the owner can undo a merge.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.memories.edits import OutdatedVectors, fits, without
from apps.workspace.memories.limits import MERGED_CHARACTERS, MOST_TOPICS
from apps.workspace.memories.operations import embedded
from apps.workspace.memories.port import (
    UNKNOWN,
    Changed,
    Collection,
    Memory,
    MemoryStore,
    Merge,
    Vectors,
)
from apps.workspace.memories.similarity import neighbours

SIMILAR = 0.75
"""A higher cosine makes two memories duplicates."""
FEWEST = 10
"""Duplicates are looked for among more memories than that."""
INTERVAL = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """`merged` is what becomes of the `originals`; the first of them gives way to it."""

    originals: tuple[Memory, ...]
    merged: Memory


def is_due(collection: Collection, now: datetime) -> bool:
    before = collection.deduplicated_at
    is_long_ago = before is None or now - before > INTERVAL
    return len(collection.memories) > FEWEST and is_long_ago


async def deduplicate(store: MemoryStore, embedder: Embedder, now: datetime) -> int:
    """Merge duplicates if it is time to; return how many memories gave way.

    Memories that were changed meanwhile stay as they are.
    """
    collection = await store.load()
    if not is_due(collection, now):
        return 0
    found = await asyncio.to_thread(find_duplicates, collection)
    made = await embedded(embedder, [one.merged for one in found]) if found else None
    try:
        return await store.change(lambda newest: with_merged(newest, found, made, now))
    except OutdatedVectors:
        return 0  # they are made anew when somebody searches; then the next store comes back here


def find_duplicates(collection: Collection) -> list[Duplicates]:
    """The more important memory takes the others in, the earlier of equally important ones.

    All pairs are compared: 30 ms for 1,000 memories, about a second for 10,000.
    """
    memories = collection.memories
    order = sorted(range(len(memories)), key=lambda place: (-memories[place].importance, place))
    ranked = [memories[place] for place in order]
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
        Duplicates(originals, merged(originals))
        for group in groups.values()
        if len(group) > 1
        for originals in (tuple(ranked[rank] for rank in group),)
    ]


def equal_texts(ranked: Sequence[Memory]) -> list[tuple[int, Sequence[int]]]:
    """Of texts whose embeddings say nothing: only the same words make them duplicates."""
    same: dict[str, list[int]] = {}
    for rank, memory in enumerate(ranked):
        if memory.unknown_share > UNKNOWN and not memory.is_separate:
            same.setdefault(memory.content, []).append(rank)
    return [(ranks[0], ranks[1:]) for ranks in same.values() if len(ranks) > 1]


def similar_texts(ranked: Sequence[Memory], vectors: Vectors) -> list[tuple[int, Sequence[int]]]:
    apart = [n for n, one in enumerate(ranked) if one.is_separate or one.unknown_share > UNKNOWN]
    vectors[apart] = 0.0
    return list(neighbours(vectors, SIMILAR))


def merged(originals: Sequence[Memory]) -> Memory:
    """The first one with the texts and topics of all."""
    lines = (line for one in originals for line in one.content.split("\n"))
    topics = dict.fromkeys(topic for one in originals for topic in one.topics)
    return replace(
        originals[0],
        content="\n".join(dict.fromkeys(lines)),
        importance=max(one.importance for one in originals),
        topics=tuple(topics)[:MOST_TOPICS],
    )


def with_merged(
    collection: Collection, found: Sequence[Duplicates], made: Embeddings | None, now: datetime
) -> Changed[int]:
    """The collection with the merged memories in place of those that are still the same.

    Raises `OutdatedVectors`.
    """
    if made is not None and not fits(collection, made):
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
        Merge(int(now.timestamp()) + number, one.merged.id, now, one.originals)
        for number, one in valid
    ]
    changed = replace(with_survivors(rest, new), deduplicated_at=now)
    return Changed(changed, len(gone), merges)


def with_survivors(
    collection: Collection, new: Mapping[int, tuple[Memory, Embeddings, int]]
) -> Collection:
    memories, vectors = list(collection.memories), collection.vectors.copy()
    for place, memory in enumerate(memories):
        if memory.id in new:
            survivor, made, number = new[memory.id]
            memories[place] = replace(survivor, unknown_share=made.unknown_shares[number])
            vectors[place] = made.vectors[number]
    return replace(collection, memories=tuple(memories), vectors=vectors)
