"""Calls as the model wrote them, what they are answered with, and what is logged of both."""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from apps.agent.assembly import Reply
from apps.agent.messages import Message, ToolCall, as_json
from apps.agent.records import payload, record
from apps.agent.surrogates import decoded, whole
from apps.agent.tools import Invocation, ResultStep, Tool, ToolResult
from apps.errors import InvalidParameter, Stopped, ToolError

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
UNEXPECTED = ToolResult("Error: the tool failed unexpectedly.")

Step = Literal["open", "arguments", "call", "result"]
"""Of a tool call, in their order; `open` fails where there is no such tool."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """How one call went: `result` is what the model gets.

    `failed` is the step that went wrong, None if none did, and `error` what is known of that.
    `stopped` ends the run. `seconds` are those of the tool itself; None if it was not called.
    """

    result: ToolResult
    failed: Step | None = None
    error: str = ""
    stopped: Stopped | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None


async def call_tool(
    tool: Tool, call: ToolCall, invocation: Invocation, results: Sequence[ResultStep]
) -> ToolOutcome:
    """Call the tool with the arguments that the model wrote; pass its result through `results`.

    Whatever goes wrong is in the outcome. `invocation` is complete but for the arguments.
    """
    step: Step = "arguments"
    arguments: Mapping[str, Any] = {}
    started = seconds = None

    def outcome(result: ToolResult, error: object, stopped: Stopped | None = None) -> ToolOutcome:
        return ToolOutcome(result, step, str(error), stopped, arguments, seconds)

    try:
        arguments = read_arguments(call)
        step, started = "call", time.monotonic()
        try:
            result = await tool.call(replace(invocation, arguments=arguments))
        finally:
            seconds = time.monotonic() - started
        reported = result.failure
        step = "result"
        for change in results:
            result = await change(call, result)
    except ToolError as error:
        if isinstance(error, InvalidParameter):
            step = "arguments"
        return outcome(mended(failed(error)), error)
    except Stopped as error:
        return outcome(ToolResult(str(error)), error.__cause__ or error, error)
    except Exception:
        logger.exception("Tool %r failed", call.name)
        return outcome(UNEXPECTED, UNEXPECTED.content)
    result = mended(result)
    if reported is not None:
        step = "call"
        return outcome(result, reported)
    return ToolOutcome(result, arguments=arguments, seconds=seconds)


def mended(result: ToolResult) -> ToolResult:
    """Without halves of characters, which no service takes."""
    return replace(result, content=whole(result.content))


def unanswered(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls at the end of a conversation that have no result yet."""
    results: set[str | None] = set()
    for message in reversed(messages):
        if message.role != "tool":
            return tuple(call for call in message.tool_calls if call.id not in results)
        results.add(message.tool_call_id)
    return ()


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


def result_message(call: ToolCall, result: ToolResult) -> Message:
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
