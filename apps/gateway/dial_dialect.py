"""DIAL's dialect of a completion, for callers from DIAL Core.

Messages have to come in this order; all violations are reported at once.

    (system)? (user assistant (tool+ assistant?)*)* (user | tool+)

Tool messages are results of the client's own tools alone. Results of the application's tools are
not accepted from a client, which could forge them.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.quotes import bullets, shortened
from apps.errors import BadRequest
from apps.gateway.chat_requests import (
    SYSTEM,
    Call,
    ChatMessage,
    ChatRequest,
    Object,
    Positive,
    Prepare,
    PreparedRun,
    to_message,
    to_specs,
)
from apps.gateway.places import placed
from apps.gateway.request_checks import read_request
from apps.runs.requests import RunRequest


class DialRequest(ChatRequest):
    max_prompt_tokens: Positive | Literal["infinity"] | None = None
    custom_fields: Object | None = None

    @property
    def objects(self) -> list[Any]:
        return [*super().objects, self.custom_fields]

    @property
    def configuration(self) -> Object:
        """The values for the form of the application."""
        found = (self.custom_fields or {}).get("configuration")
        return found if isinstance(found, dict) else {}


_decode = msgspec.json.Decoder(DialRequest).decode


def read(body: bytes) -> tuple[DialRequest, Prepare]:
    """The request, and its run for an application. Both raise `BadRequest`."""
    asked = read_request(body, _decode)
    return asked, partial(prepare, asked)


def prepare(asked: DialRequest, application: ResolvedApplication) -> PreparedRun:
    external = to_specs(asked)
    check_order(asked.messages, external)
    messages = tuple(to_message(message, external) for message in asked.messages)
    most = asked.max_prompt_tokens
    request = RunRequest(
        messages,
        external,
        asked.tool_choice,
        asked.response_format,
        max_prompt_tokens=None if most == "infinity" else most,
    )
    told, path = asked.configuration, "custom_fields.configuration"
    return placed(PreparedRun(request), application, told, path)


def check_order(messages: Sequence[ChatMessage], external: Collection[str]) -> None:
    """`external` are the names of the client's tools. Raises `BadRequest`."""
    if len(messages) == 1 and messages[0].role == "user":
        return  # most requests
    found = violations(messages, external)
    if found:
        raise BadRequest("Invalid messages array", f"Invalid messages array:\n{bullets(found)}")
    missing = list(missing_results(messages, external))
    if missing:
        raise BadRequest("Missing tool results", f"Missing tool results:\n{bullets(missing)}")


def violations(messages: Sequence[ChatMessage], external: Collection[str]) -> list[str]:
    if not messages:
        return ["Messages array must not be empty."]
    misplaced = [
        f"Message at index {index}: role '{message.role}' is only allowed at index 0."
        for index, message in enumerate(messages)
        if index and message.role in SYSTEM
    ]
    if misplaced:
        return misplaced
    start = 1 if messages[0].role in SYSTEM else 0
    if start == len(messages):
        return ["Messages array must contain at least one user message."]
    return [
        *order(messages, start),
        *tool_answers(messages, start, external),
        *ending(messages),
    ]


def order(messages: Sequence[ChatMessage], start: int) -> Iterator[str]:
    """User and assistant take turns; the turn after a violation follows from the message there."""
    expected = "user"
    for index, message in enumerate(messages[start:], start):
        if message.role == "tool":
            expected = ""  # the answer to the results, or the next question
            continue
        if expected and message.role != expected:
            yield f"Message at index {index}: expected role '{expected}', got '{message.role}'."
        expected = "assistant" if message.role == "user" else "user"


def tool_answers(
    messages: Sequence[ChatMessage], start: int, external: Collection[str]
) -> Iterator[str]:
    calls: dict[str, Call] = {}
    for index, message in enumerate(messages[start:], start):
        if message.role != "tool":
            calls = {call.id: call for call in message.tool_calls or ()}
            calls = calls if message.role == "assistant" else {}
            continue
        place = f"Message at index {index}"
        if not calls:
            yield (
                f"{place}: role 'tool' is only allowed immediately after "
                "an assistant message with tool_calls."
            )
        if not message.tool_call_id:
            yield f"{place}: tool message must have a tool_call_id."
        elif calls:
            yield from answered(place, message.tool_call_id, calls, external)


def answered(
    place: str, call_id: str, calls: dict[str, Call], external: Collection[str]
) -> Iterator[str]:
    call = calls.get(call_id)
    if call is None:
        yield (
            f"{place}: tool_call_id '{shortened(call_id)}' does not match any tool call "
            "in the preceding assistant message."
        )
    elif call.function.name not in external:
        yield (
            f"{place}: '{shortened(call.function.name)}' is not among the request's 'tools'; "
            "results of other tools are internal to the orchestrator."
        )


def ending(messages: Sequence[ChatMessage]) -> Iterator[str]:
    role = messages[-1].role
    if role not in ("user", "tool"):
        index = len(messages) - 1
        yield f"Messages must end with a user or tool message, but index {index} has role '{role}'."


def missing_results(messages: Sequence[ChatMessage], external: Collection[str]) -> Iterator[str]:
    """Calls of the client's tools whose results do not follow directly."""
    for index, message in enumerate(messages):
        if not message.tool_calls:
            continue
        results = set(results_after(messages, index))
        for call in message.tool_calls:
            if call.function.name in external and call.id not in results:
                yield (
                    f"Missing tool result: message at index {index} calls tool "
                    f"'{call.function.name}' (tool call id '{shortened(call.id)}'), "
                    "and no tool message after it has the result."
                )


def results_after(messages: Sequence[ChatMessage], index: int) -> Iterator[str | None]:
    """The call ids of the tool messages that follow directly."""
    for later in range(index + 1, len(messages)):
        if messages[later].role != "tool":
            return
        yield messages[later].tool_call_id
