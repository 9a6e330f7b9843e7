"""Long-term memory: the model stores and searches what it knows of the person who asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.embedders import find_embedder
from apps.errors import DeploymentNotFound, InitializationIssue, ServiceFailed, Unsupported
from apps.manifest.manifest import Manifest

RULES = "memory_rules"
"""The predefined prompt that tells the model how to use its memory."""


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.memory if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    # Imported with the first application that remembers, because it needs NumPy.
    from apps.capabilities.memory.priming import priming_step
    from apps.capabilities.memory.run_memories import MEMORIES, RunMemories
    from apps.capabilities.memory.tools import memory_tools

    tools = memory_tools(manifest, wanted)

    @asynccontextmanager
    async def open_memory(opening: Opening) -> AsyncIterator[Contribution]:
        try:
            store = await opening.workspace.memories(is_shared=wanted.scope == "user")
            if store is None:  # of visitors nothing is remembered
                yield NOTHING
                return
            embedder = await find_embedder(opening, wanted.embedding_deployment_id)
        except (DeploymentNotFound, ServiceFailed, Unsupported) as error:
            raise InitializationIssue(f"features.memory: {error}") from error
        remembering = RunMemories(store, embedder, wanted)
        opening.known[MEMORIES] = remembering
        rules = opening.prompts.get(RULES, "")
        async with remembering.upkeep:
            yield Contribution(
                tuple(tool.bind(opening) for tool in tools),
                instructions=(rules,) if rules else (),
                history=(priming_step(remembering),) if wanted.prime else (),
            )

    return open_memory


memory = Capability("memory", frozenset({"features.memory"}), prepare)
