"""Long-term memory: the model stores and searches facts about the user."""

from apps.capabilities.registry import Capability, Open
from apps.manifest.manifest import Manifest

RULES = "memory_rules"
"""The name of the predefined prompt with instructions for using the memory."""


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.memory if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    # Imported for the first application with memory, because it needs NumPy.
    from apps.capabilities.memory.run_opening import open_memories

    return open_memories(manifest, wanted)


memory = Capability("memory", frozenset({"features.memory"}), prepare)
