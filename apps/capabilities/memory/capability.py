"""Adds long-term memory: the model stores and searches facts about the user."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage
from apps.capabilities.memory.run_memories import MEMORIES, RunMemories
from apps.capabilities.memory.tools import memories_text, memory_tools, search_names
from apps.capabilities.registry import NOTHING, Capability, Contribution, HistoryStep, Open, Opening
from apps.capabilities.wrappers.embedders import find_embedder
from apps.errors import DeploymentNotFound, InitializationIssue, ServiceFailed, Unsupported
from apps.manifest.features.memory import Memory
from apps.manifest.manifest import Manifest
from apps.workspace.memories.operations import most_important

logger = logging.getLogger(__name__)

RULES = "memory_rules"
"""The predefined prompt with this name explains to the model how to use the memory."""


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.memory if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    return open_memories(manifest, wanted)


def open_memories(manifest: Manifest, wanted: Memory) -> Open:
    tools = memory_tools(manifest, wanted)

    @asynccontextmanager
    async def open_memory(opening: Opening) -> AsyncIterator[Contribution]:
        try:
            store = await opening.workspace.memories(is_shared=wanted.scope == "user")
            if store is None:  # Visitors have no memory.
                yield NOTHING
                return
            embedder = await find_embedder(opening, wanted.embedding_deployment_id)
        except (DeploymentNotFound, ServiceFailed, Unsupported) as error:
            raise InitializationIssue(f"features.memory: {error}") from error
        remembering = RunMemories(store, embedder, wanted)
        opening.findings[MEMORIES] = remembering
        rules = opening.predefined.prompts.get(RULES, "")
        async with remembering.maintenance:
            yield Contribution(
                tuple(tool.bind(opening) for tool in tools),
                instructions=(rules,) if rules else (),
                history=(priming_step(remembering),) if wanted.prime else (),
            )

    return open_memory


def priming_step(remembering: RunMemories) -> HistoryStep:
    """Return a history step that adds the most important memories, as if the model had searched for
    them. The step adds the memories again only if they have changed.
    """
    wanted = remembering.options
    tool, limit = search_names(wanted)

    async def prime(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        try:
            found = await most_important(remembering.store, wanted.prime)
        except ServiceFailed as error:
            logger.warning("Failed to load memories; the answer starts without them: %s", error)
            return messages
        if not found:
            return messages
        arguments = {"query": "", limit: wanted.prime}
        text = memories_text(found)
        return inject(messages, Injection(tool, arguments, text, "append_if_changed"))

    return prime


memory = Capability("memory", frozenset({"features.memory"}), prepare)
