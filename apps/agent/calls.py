"""Calls as the model wrote them, what they are answered with, and what is logged of both."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall, as_json
from apps.agent.records import payload, record
from apps.agent.replies import Reply
from apps.agent.tools import ToolResult
from apps.errors import ToolError

logger = logging.getLogger(__name__)

UNKNOWN = "Unknown tool '{}'.\n\nThis tool does not exist. Check the tool name and try again."
HIDDEN = (
    "This tool is not available to you: the platform calls it automatically. "
    "Do not call it; continue without it."
)


def refusal(name: str, *, is_hidden: bool) -> ToolResult:
    """What the model is told of a tool that it cannot call."""
    return ToolResult(HIDDEN if is_hidden else UNKNOWN.format(name))


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """Raises `ToolError`."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ToolError(
            f"The arguments are not valid JSON: {error}. Send one JSON object."
        ) from error
    if not isinstance(arguments, dict):
        raise ToolError(
            f"The arguments are a JSON {type(arguments).__name__}; send one JSON object."
        )
    return arguments


def answer(call: ToolCall, result: ToolResult) -> Message:
    return Message(
        "tool",
        result.content,
        tool_call_id=call.id,
        attachments=result.attachments,
        state=result.state,
    )


def tell_of(reply: Reply, deployment: str, iteration: int, seconds: float) -> None:
    """One line for each call of the model that was answered."""
    message = reply.message
    record(
        logger,
        "Model call completed",
        iteration=iteration,
        deployment=deployment,
        duration=seconds,
        finish=reply.finish_reason,
        tools=[call.name for call in message.tool_calls],
        content_length=len(message.text),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in reply.usage),
    )
    payload("answer of the model", lambda: as_json([message]))
