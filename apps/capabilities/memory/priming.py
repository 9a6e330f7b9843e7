"""The most important memories, in the conversation from its start."""

import logging
from collections.abc import Sequence

from apps.agent.injection import Injection, inject
from apps.agent.messages import Message
from apps.capabilities.memory.run_memories import RunMemories
from apps.capabilities.memory.text import memories_text
from apps.capabilities.memory.tools import search_names
from apps.capabilities.registry import HistoryStep
from apps.errors import ServiceFailed
from apps.workspace.memories.operations import most_important

logger = logging.getLogger(__name__)


def priming_step(remembering: RunMemories) -> HistoryStep:
    """Adds the memories as if the model had searched for them; again only if they have changed."""
    wanted = remembering.wanted
    tool, limit = search_names(wanted)

    async def prime(messages: Sequence[Message]) -> Sequence[Message]:
        try:
            found = await most_important(remembering.store, wanted.prime)
        except ServiceFailed as error:
            logger.warning("The answer begins without memories: %s", error)
            return messages
        if not found:
            return messages
        arguments = {"query": "", limit: wanted.prime}
        text = memories_text(found)
        return inject(messages, Injection(tool, arguments, text, "append_if_changed"))

    return prime
