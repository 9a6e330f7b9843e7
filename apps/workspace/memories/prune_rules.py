"""Deletes memories according to an application's rules."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.workspace.memories.edits import without
from apps.workspace.memories.port import ChangedMemories, MemoryList, MemoryStore


@dataclass(frozen=True, slots=True)
class PruneRules:
    """Rules that select the memories to delete.

    A memory is selected if it is older than `after_days` and less important than
    `below_importance`. If one of them is None, only the other applies. In addition, the least
    important memories beyond `at_most` are selected.
    """

    after_days: float | None = None
    below_importance: float | None = None
    at_most: int | None = None


async def prune(store: MemoryStore, rules: PruneRules, now: datetime) -> int:
    """Delete the memories that the rules select. Return the number of deleted memories."""
    if not selected_ids(await store.load(), rules, now):
        return 0

    def change(collection: MemoryList) -> ChangedMemories[int]:
        ids = selected_ids(collection, rules, now)
        return ChangedMemories(without(collection, ids) if ids else collection, len(ids))

    return await store.change(change)


def selected_ids(collection: MemoryList, rules: PruneRules, now: datetime) -> set[int]:
    """Return the IDs of the memories that the rules select. The age of a memory follows from its
    ID, which is the Unix time at which it was stored.
    """
    memories, ids = collection.memories, set[int]()
    if rules.after_days is not None or rules.below_importance is not None:
        latest = now - timedelta(days=rules.after_days or 0)
        lowest = rules.below_importance
        ids = {
            memory.id
            for memory in memories
            if memory.id < latest.timestamp() and (lowest is None or memory.importance < lowest)
        }
    if rules.at_most is not None:
        left = [memory for memory in memories if memory.id not in ids]
        left.sort(key=lambda memory: (memory.importance, memory.id))
        ids |= {memory.id for memory in left[: max(0, len(left) - rules.at_most)]}
    return ids
