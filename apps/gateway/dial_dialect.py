"""DIAL's dialect of the chat completions API, for callers from DIAL Core.

Messages must be in this order. All violations are reported together.

    (system)? (user assistant (tool+ assistant?)*)* (user | tool+)

Tool messages can contain only results from the client's own tools. Results from the application's
tools are rejected, because a client could forge them.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import bullet_lines, shorten_text
from apps.doors.client_conversation import (
    SYSTEM,
    ChatMessage,
    Object,
    RequestedCall,
    form_answer,
    to_message,
)
from apps.doors.dialect import ParsedRequest, PreparedRun
from apps.doors.user_place import with_user_place
from apps.errors import BadRequest
from apps.gateway.base import error_body
from apps.gateway.chat_requests import ChatRequest, Positive, check_choices, read_request, to_specs
from apps.gateway.deltas import DialDeltas
from apps.gateway.wire import ChunkEncoder, CompletionRequest
from apps.live.doors import CORE
from apps.runs.failures import PASSED_ON, RunFailure
from apps.runs.requests import RunRequest


class DialRequest(ChatRequest):
    max_prompt_tokens: Positive | Literal["infinity"] | None = None
    custom_fields: Object | None = None

    @property
    def objects(self) -> list[Any]:
        return [*super().objects, self.custom_fields]

    @property
    def configuration(self) -> Object:
        """Return the values from the application's configuration form, by field."""
        found = (self.custom_fields or {}).get("configuration")
        return found if isinstance(found, dict) else {}


_decode = msgspec.json.Decoder(DialRequest).decode


class DialDialect:
    """Reads requests from DIAL Core and encodes their responses.

    Core passes on only the status codes in `PASSED_ON`, and treats 429 as a failure of the service.
    The last chunks are sent after the usage has been stored.
    """

    door = CORE
    passed_on = PASSED_ON

    def read(self, body: bytes) -> ParsedRequest:
        request = parse(body)
        return ParsedRequest(
            partial(prepare, request),
            self.encoder,
            self.whole,
            request.model or "",
            bool(request.stream),
        )

    def encoder(self, application: str) -> ChunkEncoder:
        return ChunkEncoder(application, DialDeltas, sends_end_separately=True)

    def whole(self, application: str) -> CompletionRequest:
        return CompletionRequest(application, DialDeltas())

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)


def parse(body: bytes) -> DialRequest:
    """Parse and validate the body of a request. Raises `BadRequest` if it is invalid."""
    return read_request(body, _decode)


def prepare(asked: DialRequest, application: ResolvedApplication) -> PreparedRun:
    """Convert a request to a run of the application. Raises `BadRequest` if the request does not
    fit the application.
    """
    check_choices(asked, application)
    external = to_specs(asked.tools or ())
    check_order(asked.messages, external)
    messages = tuple(to_message(message, external) for message in asked.messages)
    most = asked.max_prompt_tokens
    request = RunRequest(
        messages,
        external,
        asked.tool_choice,
        asked.response_format,
        form_answer=form_answer(messages),
        max_prompt_tokens=None if most == "infinity" else most,
    )
    fields, path = asked.configuration, "custom_fields.configuration"
    return with_user_place(PreparedRun(request), application, fields, path)


def check_order(messages: Sequence[ChatMessage], external: Collection[str]) -> None:
    """Raise `BadRequest` if the messages are not in the order that DIAL requires. `external` are
    the names of the client's tools.
    """
    if len(messages) == 1 and messages[0].role == "user":
        return  # In most requests, the order is valid.
    found = violations(messages, external)
    if found:
        raise BadRequest(
            "Invalid messages array", f"Invalid messages array:\n{bullet_lines(found)}"
        )
    missing = list(missing_results(messages, external))
    if missing:
        raise BadRequest("Missing tool results", f"Missing tool results:\n{bullet_lines(missing)}")


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
    """Yield an error for each message, starting at index `start`, that breaks the alternation of
    user and assistant messages.
    """
    expected = "user"
    for index, message in enumerate(messages[start:], start):
        if message.role == "tool":
            expected = ""  # The next message is the answer to the results, or the next question.
            continue
        if expected and message.role != expected:
            yield f"Message at index {index}: expected role '{expected}', got '{message.role}'."
        expected = "assistant" if message.role == "user" else "user"


def tool_answers(
    messages: Sequence[ChatMessage], start: int, external: Collection[str]
) -> Iterator[str]:
    calls: dict[str, RequestedCall] = {}
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
            yield from read_answers(place, message.tool_call_id, calls, external)


def read_answers(
    place: str, call_id: str, calls: dict[str, RequestedCall], external: Collection[str]
) -> Iterator[str]:
    call = calls.get(call_id)
    if call is None:
        yield (
            f"{place}: tool_call_id '{shorten_text(call_id)}' does not match any tool call "
            "in the preceding assistant message."
        )
    elif call.function.name not in external:
        yield (
            f"{place}: '{shorten_text(call.function.name)}' is not among the request's 'tools'; "
            "results of other tools are internal to the orchestrator."
        )


def ending(messages: Sequence[ChatMessage]) -> Iterator[str]:
    role = messages[-1].role
    if role not in ("user", "tool"):
        index = len(messages) - 1
        yield f"Messages must end with a user or tool message, but index {index} has role '{role}'."


def missing_results(messages: Sequence[ChatMessage], external: Collection[str]) -> Iterator[str]:
    """Yield an error for each call to a client's tool without a result directly after it."""
    for index, message in enumerate(messages):
        if not message.tool_calls:
            continue
        results = set(results_after(messages, index))
        for call in message.tool_calls:
            if call.function.name in external and call.id not in results:
                yield (
                    f"Missing tool result: message at index {index} calls tool "
                    f"'{call.function.name}' (tool call id '{shorten_text(call.id)}'), "
                    "and no tool message after it has the result."
                )


def results_after(messages: Sequence[ChatMessage], index: int) -> Iterator[str | None]:
    """Yield the call IDs of the tool messages directly after the message at `index`."""
    for later in range(index + 1, len(messages)):
        if messages[later].role != "tool":
            return
        yield messages[later].tool_call_id
