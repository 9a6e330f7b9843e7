"""Resources that are read ahead, put into the conversation as if the model had asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from apps.agent.injection import Injection, inject
from apps.agent.messages import Message
from apps.capabilities.mcp.resources import TOOL_NAME, EagerText
from apps.capabilities.registry import HistoryStep
from apps.capabilities.wrappers.limits import MODEL_CHARACTERS
from apps.capabilities.wrappers.texts import shortened


def injection(texts: Sequence[EagerText]) -> HistoryStep:
    """A step that adds what the conversation does not have yet, or has in another version."""
    wanted = [
        Injection(
            TOOL_NAME,
            {"uri": text.uri, "toolset": text.toolset},
            shortened(text.text, MODEL_CHARACTERS),
            "append_if_changed",
        )
        for text in texts
    ]

    async def add(messages: Sequence[Message]) -> Sequence[Message]:
        for one in wanted:
            messages = inject(messages, one)
        return messages

    return add
