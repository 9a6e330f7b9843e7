"""Executes a model's tool calls, and builds their results."""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec
from msgspec import structs

from apps.agent.call_arguments import PROBLEM, not_json, not_object, unreadable_text
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.surrogates import decode_json, well_formed
from apps.agent.tools import Invocation, PendingResult, ResultStep, Tool, ToolResult
from apps.errors import InvalidParameter, NotApproved, Stopped, ToolError

logger = logging.getLogger(__name__)

UNKNOWN = "Unknown tool '{}'.\n\nThis tool does not exist. Check the tool name and try again."
LONGEST_LIST = 4_000
"""The maximum length of the list of tool names in an error message."""
HIDDEN = (
    "This tool is not available to you: the platform calls it automatically. "
    "Do not call it; continue without it."
)
STATIC = (
    "The tool '{}' runs at the model's service itself and cannot be called from here. "
    "Continue without calling it."
)
CORRECT = "Correct it and call the tool again."
UNEXPECTED = ToolResult("Error: the tool failed unexpectedly.")

CallStep = Literal["open", "arguments", "call", "result"]
"""A phase of a tool call. `open` fails if the tool does not exist."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    result: ToolResult
    """The result for the model. `PendingResult` means that a user has to answer first."""
    failed: CallStep | None = None
    """The phase that failed, or None."""
    error: str = ""
    stopped: Stopped | None = None
    """The error that ends the run, or None."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    """The duration of the call, or None if the tool was not called."""
    tool_failed: bool = False
    """True if the tool itself failed. False if the cause was the arguments, an approval or the
    process.
    """


async def call_tool(
    tool: Tool, call: ToolCall, invocation: Invocation, results: Sequence[ResultStep]
) -> ToolOutcome:
    """Call the tool with the model's arguments, and apply the `results` steps to its result. If the
    tool fails, return the failure as an outcome.

    `invocation` is the context of the call, without arguments.
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
            result = await tool.call(structs.replace(invocation, arguments=arguments))
        finally:
            seconds = time.monotonic() - started
        reported = result.failure
        step = "result"
        for change in () if isinstance(result, PendingResult) else results:
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
    content = well_formed(result.content)
    return result if content is result.content else replace(result, content=content)


def static_names(tools: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the tools that the model's service runs itself."""
    return frozenset(tool["static_function"]["name"] for tool in tools)


def refuse_call(
    name: str, hidden: Container[str], static: Container[str], listed: Iterable[str] = ()
) -> ToolResult:
    """Return the error for a call to a tool that does not exist or must not be called.

    `static` are the tools that the model's service runs, and `listed` the tools that the model can
    call.
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
    """Return the parsed arguments of a call. Raises `ToolError` if they are not a JSON object."""
    arguments = decode_arguments(call.arguments or "{}")
    written = unreadable_text(arguments)
    if written is not None:
        if isinstance(problem := arguments.get(PROBLEM), str):
            raise ToolError(problem)
        decode_arguments(written)
        raise ToolError("The arguments are not a JSON object. Send one JSON object.")
    return arguments


def argument_problem(call: ToolCall) -> str:
    """Return the error message if the arguments for one of the client's tools are not a JSON
    object, otherwise "".
    """
    try:
        read_arguments(call)
    except ToolError as error:
        return failure_result(error).content
    return ""


def decode_arguments(text: str) -> dict[str, Any]:
    """Parse a JSON object. Raises `ToolError` if the text is anything else."""
    try:
        arguments = decode_json(msgspec.json.decode, text.encode())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ToolError(not_json(error)) from error
    if not isinstance(arguments, dict):
        raise ToolError(not_object(arguments))
    return arguments


def result_message(call: ToolCall, result: ToolResult) -> ModelMessage:
    return ModelMessage(
        "tool",
        result.content,
        tool_call_id=call.id,
        attachments=result.attachments,
        state=result.state,
    )
