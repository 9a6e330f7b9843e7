"""OpenAI's dialect of the chat completions API, for all callers except DIAL Core.

Each parameter reaches the model, is rejected with an error, or is reported as ignored.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import NamedUnknown, invalid
from apps.doors.client_conversation import (
    SYSTEM,
    Object,
    check_instructions,
    form_answer,
    read_conversation,
)
from apps.doors.client_parameters import (
    NO_PARAMETERS,
    PARAMETERS,
    offered,
    requires_client_tool,
    sort_parameters,
)
from apps.doors.dialect import ParsedRequest, PreparedRun
from apps.doors.user_place import with_user_place, without_user_place
from apps.gateway.base import openai_error_body
from apps.gateway.chat_requests import ChatRequest, check_choices, read_request
from apps.gateway.deltas import OpenAIDeltas
from apps.gateway.openai_tools import (
    FUNCTION,
    OpenAIMessage,
    OpenAITool,
    read_choice,
    to_specs,
)
from apps.gateway.wire import ChunkEncoder, CompletionRequest
from apps.live.doors import GATEWAY
from apps.runs.failures import WITH_LIMITS, RunFailure
from apps.runs.requests import RunRequest

UNSUPPORTED = {
    "functions": "Legacy functions are not supported. Send 'tools'.",
    "function_call": "Legacy functions are not supported. Send 'tool_choice'.",
    "audio": "Audio answers are not supported. Leave 'audio' out.",
    "web_search_options": "Leave it out; the application has its own tools.",
}


class OpenAIRequest(ChatRequest, forbid_unknown_fields=True):
    messages: list[OpenAIMessage]  # type: ignore[assignment]
    tools: list[OpenAITool] | None = None  # type: ignore[assignment]
    parallel_tool_calls: bool | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    logit_bias: dict[str, int | float] | None = None
    prediction: Object | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    service_tier: str | None = None
    stream_options: Object | None = None
    store: bool | None = None
    modalities: list[str] | None = None
    functions: Any = None
    function_call: Any = None
    audio: Any = None
    web_search_options: Any = None

    @property
    def objects(self) -> list[Any]:
        return [*super().objects, self.prediction]


class LenientOpenAIRequest(OpenAIRequest, forbid_unknown_fields=False):
    pass


_decode = NamedUnknown(OpenAIRequest, LenientOpenAIRequest).decode


class OpenAIDialect:
    door = GATEWAY
    passed_on = WITH_LIMITS

    def read(self, body: bytes) -> ParsedRequest:
        parsed = parse(body)
        request = parsed.request
        return ParsedRequest(
            partial(prepare, parsed),
            self.encoder,
            self.whole,
            request.model or "",
            bool(request.stream),
            request.user or "",
        )

    def encoder(self, application: str) -> ChunkEncoder:
        return ChunkEncoder(application, OpenAIDeltas)

    def whole(self, application: str) -> CompletionRequest:
        return CompletionRequest(application, OpenAIDeltas(), has_all_keys=True)

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return openai_error_body(found)


class ParsedBody(msgspec.Struct, frozen=True):
    """A parsed request."""

    request: OpenAIRequest
    unknown: frozenset[str] = frozenset()
    """The names of the request's unknown parameters."""
    allowed: frozenset[str] | None = None
    """The names of the tools that the model may call, or None if it may call all."""


def parse(body: bytes) -> ParsedBody:
    """Parse and validate the body of a request. Raises `BadRequest` if it is invalid."""
    unknown: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None

    def decode(body: bytes) -> OpenAIRequest:
        nonlocal unknown, allowed
        request, unknown = _decode(body)
        allowed = read_choice(request) if request.tool_choice else None
        return request

    request = read_request(body, decode)
    check_supported(request)
    return ParsedBody(request, unknown, allowed)


def check_supported(request: OpenAIRequest) -> None:
    """Raise `BadRequest` if the request has a parameter that is not supported."""
    for name, advice in UNSUPPORTED.items():
        if getattr(request, name) is not None:
            raise invalid(name, advice)
    if request.store:
        raise invalid("store", "This server does not store answers for clients. Leave 'store' out.")
    if set(request.modalities or ()) - {"text"}:
        raise invalid(
            "modalities", "Only text is supported. Use ['text'], or leave 'modalities' out."
        )
    if request.stream_options is not None and not request.stream:
        raise invalid("stream_options", "This is only allowed with 'stream': true.")
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        raise invalid("max_tokens", "Send this or 'max_completion_tokens', not both.")


def prepare(parsed: ParsedBody, application: ResolvedApplication) -> PreparedRun:
    """Convert a request to a run of the application. Raises `BadRequest` if the request does not
    fit the application.
    """
    asked = parsed.request
    check_choices(asked, application)
    own = to_specs(asked.tools) if asked.tools else {}
    conversation = read_conversation(asked.messages, own)
    external = own if parsed.allowed is None else offered(own, parsed.allowed)
    if conversation.instructions:
        check_instructions(application.manifest.orchestrator.client, first_instructions(asked))
    given = given_parameters(asked)
    if asked.metadata:
        given = without_user_place(given)
    parameters = NO_PARAMETERS
    if given:
        parameters = sort_parameters(given, application, has_functions=has_functions(asked))
    request = RunRequest(
        conversation.messages,
        external,
        asked.tool_choice,
        asked.response_format,
        parameters=parameters.forwarded,
        instructions=conversation.instructions,
        textual_results=conversation.textual_results,
        requires_client_tool=bool(external) and requires_client_tool(asked.tool_choice, external),
        form_answer=form_answer(conversation.messages),
    )
    ignored = parameters.ignored | parsed.unknown | set(without_effect(asked, application.slug))
    prepared = PreparedRun(request, ignored)
    if not asked.metadata:
        return prepared
    return with_user_place(prepared, application, asked.metadata, "metadata")


def first_instructions(request: OpenAIRequest) -> str:
    """Return the JSON path of the request's first system message, for an error message."""
    index = next(i for i, message in enumerate(request.messages) if message.role in SYSTEM)
    return f"messages.{index}.role"


def given_parameters(request: OpenAIRequest) -> Mapping[str, Any]:
    values = zip(PARAMETERS, attrgetter(*PARAMETERS)(request), strict=True)
    return {name: value for name, value in values if value is not None}


def has_functions(request: OpenAIRequest) -> bool:
    return any(tool.type == FUNCTION for tool in request.tools or ())


def without_effect(request: OpenAIRequest, slug: str) -> Iterator[str]:
    """Yield the names of request fields that have no effect on the application."""
    if request.model not in (None, slug):
        yield "model"
    for name, value in (request.stream_options or {}).items():
        if name != "include_usage" and value not in (None, False):
            yield f"stream_options.{name}"
    if any(tool.type != "function" for tool in request.tools or ()):
        yield "tools.static_function"
