"""Calls of tools as the model wrote them, and what they are answered with."""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from apps.agent.call_arguments import unreadable_text
from apps.agent.messages import Message, ToolCall
from apps.agent.surrogates import decode_json, well_formed
from apps.agent.tools import Invocation, Pending, ResultStep, Tool, ToolResult
from apps.errors import InvalidParameter, NotApproved, Stopped, ToolError

logger = logging.getLogger(__name__)

UNKNOWN = "Unknown tool '{}'.\n\nThis tool does not exist. Check the tool name and try again."
LONGEST_LIST = 4_000
"""Characters of the names of tools in one result."""
HIDDEN = (
    "This tool is not available to you: the platform calls it automatically. "
    "Do not call it; continue without it."
)
STATIC = (
    "The tool '{}' runs at the model's service itself and cannot be called from here. "
    "Go on without calling it."
)
CORRECT = "Correct it and call the tool again."
UNEXPECTED = ToolResult("Error: the tool failed unexpectedly.")

CallStep = Literal["open", "arguments", "call", "result"]
"""Of a tool call, in their order; `open` fails where there is no such tool."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """How one call went: `result` is what the model gets, a `Pending` if somebody has to answer.

    `failed` is the step that went wrong, None if none did, and `error` its message. `tool_failed`:
    the tool did, and not the model with its arguments, a person who denied the call, or the process.
    `stopped` ends the run. `seconds` is the tool's own time; None if it was not called.
    """

    result: ToolResult
    failed: CallStep | None = None
    error: str = ""
    stopped: Stopped | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    tool_failed: bool = False


async def call_tool(
    tool: Tool, call: ToolCall, invocation: Invocation, results: Sequence[ResultStep]
) -> ToolOutcome:
    """Call the tool with the arguments that the model wrote; pass its result through `results`.

    Failures are in the outcome. `invocation` is complete but for the arguments.
    """
    step: CallStep = "arguments"
    arguments: Mapping[str, Any] = {}
    started = seconds = None

    def outcome(result: ToolResult, error: object, stopped: Stopped | None = None) -> ToolOutcome:
        tool_failed = step != "arguments" and not isinstance(error, NotApproved)
        return ToolOutcome(result, step, str(error), stopped, arguments, seconds, tool_failed)

    try:
        arguments = read_arguments(call)
        step, started = "call", time.monotonic()
        try:
            result = await tool.call(replace(invocation, arguments=arguments))
        finally:
            seconds = time.monotonic() - started
        reported = result.failure
        step = "result"
        for change in () if isinstance(result, Pending) else results:
            result = await change(call, result)
    except ToolError as error:
        if step == "call" and isinstance(error, InvalidParameter):
            step = "arguments"
        return outcome(encodable(failure_result(error)), error)
    except Stopped as error:
        return outcome(ToolResult(str(error)), error.__cause__ or error, error)
    except Exception:
        logger.exception("Tool %r failed", call.name)
        return outcome(UNEXPECTED, UNEXPECTED.content)
    result = encodable(result)
    if reported is not None:
        step = "call"
        return outcome(result, reported)
    return ToolOutcome(result, arguments=arguments, seconds=seconds)


def encodable(result: ToolResult) -> ToolResult:
    return replace(result, content=well_formed(result.content))


def static_names(tools: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The names of tools that the model's service runs."""
    return frozenset(tool["static_function"]["name"] for tool in tools)


def refusal(
    name: str, hidden: Container[str], static: Container[str], listed: Iterable[str] = ()
) -> ToolResult:
    """The result of a call of a tool that does not exist, or that the model must not call.

    `listed` are the tools that it can call.
    """
    if name in hidden:
        return ToolResult(HIDDEN)
    if name in static:
        return ToolResult(STATIC.format(name))
    names = ", ".join(listed)
    if len(names) > LONGEST_LIST:
        names = f"{names[:LONGEST_LIST].rpartition(', ')[0]}, …"
    there = f" The tools are: {names}." if names else " There are no tools in this conversation."
    return ToolResult(UNKNOWN.format(name) + there)


def failure_result(error: ToolError) -> ToolResult:
    advice = f"\n\n{CORRECT}" if isinstance(error, InvalidParameter) else ""
    return ToolResult(f"Error: {error}{advice}", failure=error)


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """Raises `ToolError`."""
    arguments = decode_arguments(call.arguments or "{}")
    written = unreadable_text(arguments)
    if written is not None:
        decode_arguments(written)
        raise ToolError("The arguments are not one JSON object; send one.")
    return arguments


def argument_problem(call: ToolCall) -> str:
    """Why a client's tool was not called, "" if its arguments can be read."""
    try:
        read_arguments(call)
    except ToolError as error:
        return failure_result(error).content
    return ""


def decode_arguments(text: str) -> dict[str, Any]:
    """Raises `ToolError`."""
    try:
        arguments = decode_json(msgspec.json.decode, text.encode())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ToolError(
            f"The arguments are not valid JSON: {error}. The tool was not called. "
            "Send one JSON object."
        ) from error
    if not isinstance(arguments, dict):
        raise ToolError(
            f"The arguments are a JSON {type(arguments).__name__}; send one JSON object."
        )
    return arguments


def result_message(call: ToolCall, result: ToolResult) -> Message:
    return Message(
        "tool",
        result.content,
        tool_call_id=call.id,
        attachments=result.attachments,
        state=result.state,
    )
