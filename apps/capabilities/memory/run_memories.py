"""Provides the caller's memories to a run, and maintains them in the background."""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from apps.capabilities.registry import Key
from apps.manifest.features.memory import Memory
from apps.workspace.embeddings.port import Embedder
from apps.workspace.memories.deduplication import deduplicate
from apps.workspace.memories.port import MemoryStore
from apps.workspace.memories.prune_rules import PruneRules, prune

logger = logging.getLogger(__name__)

UPKEEP_SECONDS = 30.0


@dataclass(slots=True)
class Maintenance:
    """Tracks the maintenance of a run's memories in the background.

    The run waits for the maintenance at its end, because it needs the run's credentials.
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
                logger.exception("Memories could not be pruned or merged")

    async def maintain_once(self, now: datetime) -> None:
        if (pruning := self.options.prune) is not None:
            rules = PruneRules(pruning.after_days, pruning.below_importance, pruning.at_most)
            await prune(self.store, rules, now)
        if self.options.deduplicate:
            await deduplicate(self.store, self.embedder, now)


MEMORIES = Key[RunMemories]("memories")
