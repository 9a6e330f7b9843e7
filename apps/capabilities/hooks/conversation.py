"""What a hook's template can see of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall


def context(event: str, messages: Sequence[Message], **counts: int) -> dict[str, Any]:
    """The names of a template and their values; null where there is no such message."""
    seen = [seen_message(message) for message in messages]
    return {
        "event": event,
        "messages": seen,
        "last_user_message": last(seen, "user"),
        "last_assistant_message": last(seen, "assistant"),
        **counts,
    }


def last(seen: Sequence[Mapping[str, Any]], role: str) -> Mapping[str, Any] | None:
    """The last message of that role that says something, and does not only call tools."""
    of_role = (m for m in reversed(seen) if m["role"] == role and not m["tool_calls"])
    return next(of_role, None)


def seen_message(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "content": message.text if message.text.strip() else "",
        "tool_calls": [seen_call(call) for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
    }


def seen_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": arguments_of(call)}


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """What the model wrote, {} if it is no JSON object."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
