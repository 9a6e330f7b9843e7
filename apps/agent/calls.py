"""Calls as the model wrote them, what they are answered with, and what is logged of both."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable, Mapping, Set
from typing import Any

import msgspec

from apps.agent.assembly import Reply
from apps.agent.messages import Message, ToolCall, as_json
from apps.agent.records import payload, record
from apps.agent.surrogates import decoded
from apps.agent.tools import ToolResult
from apps.errors import InvalidParameter, ToolError

logger = logging.getLogger(__name__)

UNKNOWN = "Unknown tool '{}'.\n\nThis tool does not exist. Check the tool name and try again."
HIDDEN = (
    "This tool is not available to you: the platform calls it automatically. "
    "Do not call it; continue without it."
)
STATIC = (
    "The tool '{}' runs at the model's service itself and cannot be called from here. "
    "Go on without calling it."
)
CORRECT = "Correct it and call the tool again."


def static_names(tools: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The names of the tools that a model's service runs itself."""
    return frozenset(tool["static_function"]["name"] for tool in tools)


def refusal(name: str, hidden: Container[str], static: Container[str]) -> ToolResult:
    """What the model is told of a tool that it cannot call."""
    if name in hidden:
        return ToolResult(HIDDEN)
    return ToolResult(STATIC.format(name) if name in static else UNKNOWN.format(name))


def failed(error: ToolError) -> ToolResult:
    """What the model is told of a call that no strategy took."""
    advice = f"\n\n{CORRECT}" if isinstance(error, InvalidParameter) else ""
    return ToolResult(f"Error: {error}{advice}", failure=error)


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """Raises `ToolError`."""
    try:
        arguments = decoded(msgspec.json.decode, (call.arguments or "{}").encode())
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
        tokens=sum(one.input + one.output for one in reply.usage),
    )
    payload("answer of the model", lambda: as_json([message]))


def tell_refused(
    calls: Iterable[ToolCall], known: Set[str], hidden: Set[str], static: Set[str]
) -> None:
    """One line for the calls of an answer that cannot be made, by the reason."""
    names = {call.name for call in calls} - known
    if found := sorted(names & hidden):
        logger.warning("The model called tools that are hidden from it: %s", found)
    if found := sorted(names & static - hidden):
        logger.warning("The model called tools that its own service runs: %s", found)
    if found := sorted(names - hidden - static):
        logger.error("The model called unknown tools: %s; known: %s", found, sorted(known))
