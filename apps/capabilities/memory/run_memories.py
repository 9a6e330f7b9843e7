"""Provides the caller's memories to a run, and maintains them in the background."""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from apps.capabilities.registry import Key
from apps.manifest.features.memory import Memory
from apps.workspace.embeddings.port import Embedder
from apps.workspace.memories.deduplication import deduplicate
from apps.workspace.memories.edits import without
from apps.workspace.memories.port import ChangedMemories, MemoryList, MemoryStore

logger = logging.getLogger(__name__)

UPKEEP_SECONDS = 30.0


@dataclass(slots=True)
class Maintenance:
    """Tracks the maintenance of a run's memories in the background.

    Before it ends, the run waits for the maintenance, which needs the run's credentials.
    """

    task: asyncio.Task[None] | None = None
    is_requested: bool = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.task is None:
            return
        if error is not None:
            self.task.cancel()
        await asyncio.wait([self.task])


@dataclass(frozen=True, slots=True)
class RunMemories:
    """The memories of a run's caller, with the memory settings of the application."""

    store: MemoryStore
    embedder: Embedder
    options: Memory
    maintenance: Maintenance = field(default_factory=Maintenance)

    def start_maintenance(self) -> None:
        """Prune and merge the memories in the background. Concurrent changes share one pass."""
        maintenance = self.maintenance
        maintenance.is_requested = True
        if maintenance.task is None or maintenance.task.done():
            maintenance.task = asyncio.create_task(self.maintain())

    async def maintain(self) -> None:
        while self.maintenance.is_requested:
            self.maintenance.is_requested = False
            try:
                async with asyncio.timeout(UPKEEP_SECONDS):
                    await self.maintain_once(datetime.now(UTC))
            except Exception:
                # Maintenance is retried after the next change. The log contains no memories.
                logger.exception("Failed to prune or merge memories")

    async def maintain_once(self, now: datetime) -> None:
        if (pruning := self.options.prune) is not None:
            rules = PruneRules(pruning.after_days, pruning.below_importance, pruning.at_most)
            await prune(self.store, rules, now)
        if self.options.deduplicate:
            await deduplicate(self.store, self.embedder, now)


MEMORIES = Key[RunMemories]("memories")


@dataclass(frozen=True, slots=True)
class PruneRules:
    """Rules that select the memories to delete.

    A memory is selected if it is older than `after_days` and less important than
    `below_importance`. If one of these limits is None, only the other limit applies. In addition,
    the least important memories beyond `at_most` are selected.
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
    """Return the IDs of the memories that the rules select. The ID of a memory is the Unix time at
    which the memory was stored, so it also determines the memory's age.
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
