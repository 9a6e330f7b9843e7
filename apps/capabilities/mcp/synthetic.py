"""Resources that are read ahead, put into the conversation as if the model had read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from apps.agent.messages import Message, ToolCall
from apps.capabilities.mcp.resources import TOOL_NAME, EagerText
from apps.capabilities.registry import HistoryStep
from apps.capabilities.wrappers.limits import MODEL_CHARACTERS
from apps.capabilities.wrappers.texts import shortened

HASH = 7
"""Hexadecimal digits; with two of them an id has the 40 characters that providers accept."""


def injection(texts: Sequence[EagerText]) -> HistoryStep:
    """A step that adds what the conversation does not have yet, or has in another version."""

    async def inject(messages: Sequence[Message]) -> Sequence[Message]:
        for text in texts:
            messages = with_text(messages, text)
        return messages

    return inject


def with_text(messages: Sequence[Message], text: EagerText) -> Sequence[Message]:
    """The first version goes after the first question, where it stays; a newer one to the end."""
    arguments = msgspec.json.encode({"uri": text.uri, "toolset": text.toolset}).decode()
    content = shortened(text.text, MODEL_CHARACTERS)
    prefix = f"synth_{TOOL_NAME}_{digest(arguments)}_"
    call_id = f"{prefix}{digest(content)}"
    known = [call.id for message in messages for call in message.tool_calls]
    if call_id in known:
        return messages
    pair = (
        Message("assistant", tool_calls=(ToolCall(call_id, TOOL_NAME, arguments),)),
        Message("tool", content, tool_call_id=call_id),
    )
    if any(id.startswith(prefix) for id in known):
        return (*messages, *pair)
    asked = next((i for i, message in enumerate(messages) if message.role == "user"), None)
    place = len(messages) if asked is None else asked + 1
    return (*messages[:place], *pair, *messages[place:])


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH]
