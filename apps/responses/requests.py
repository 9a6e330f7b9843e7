"""Defines and validates the body of `POST /v1/responses`."""

from collections.abc import Iterator
from typing import Annotated, Any

from django.conf import settings
from msgspec import Meta, Struct

from apps.doors.bodies import NamedUnknown, check_depth, decode_body, invalid
from apps.doors.client_conversation import Object

Penalty = Annotated[float, Meta(ge=-2, le=2)]
NOT_STORED = (
    "Responses are stored only for callers with an API key of this installation, and for its own "
    "applications. Send the whole conversation as 'input'."
)
UNSUPPORTED = {
    "prompt": "Prompts are part of the application. Leave 'prompt' out.",
}


class ReasoningOptions(Struct):
    effort: str | None = None
    summary: str | None = None


class TextOptions(Struct):
    format: Object | None = None
    verbosity: str | None = None


class ResponseRequest(Struct, forbid_unknown_fields=True):
    input: str | list[Object] | None = None
    model: str | None = None
    instructions: str | None = None
    tools: list[Object] | None = None
    tool_choice: str | Object | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: Object | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None
    conversation: str | Object | None = None
    prompt: Object | None = None
    include: list[str] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_tool_calls: Annotated[int, Meta(ge=1)] | None = None
    reasoning: ReasoningOptions | None = None
    text: TextOptions | None = None
    truncation: str | None = None
    metadata: dict[str, str] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None


class LenientResponseRequest(ResponseRequest, forbid_unknown_fields=False):
    pass


_decode = NamedUnknown(ResponseRequest, LenientResponseRequest).decode


def read_request(body: bytes) -> tuple[ResponseRequest, frozenset[str]]:
    """Parse a request. Return it with the names of its unknown parameters. Raises `BadRequest` if
    it is invalid.
    """
    request, unknown = decode_body(body, _decode)
    if request.input is None:
        if not continues_stored(request):
            raise invalid("input", "Send a string or an array of items.")
        request.input = []
    if len(request.input) > settings.GATEWAY_MAX_MESSAGES and isinstance(request.input, list):
        raise invalid("input", f"Too many items; the limit is {settings.GATEWAY_MAX_MESSAGES}.")
    check_depth(body, [request.input, request.tools, request.text], settings.GATEWAY_MAX_DEPTH, 2)
    for name, advice in UNSUPPORTED.items():
        if getattr(request, name) is not None:
            raise invalid(name, advice)
    if request.background and request.store is False:
        raise invalid("store", "A background response has to be stored. Leave 'store' out.")
    return request, unknown


def continues_stored(request: ResponseRequest) -> bool:
    return request.previous_response_id is not None or request.conversation is not None


def parameters_of(request: ResponseRequest) -> dict[str, Any]:
    """Return the request's parameters under their names in the chat completions API."""
    return {name: value for name, value in named(request) if value is not None}


def named(request: ResponseRequest) -> Iterator[tuple[str, Any]]:
    yield "temperature", request.temperature
    yield "top_p", request.top_p
    yield "presence_penalty", request.presence_penalty
    yield "frequency_penalty", request.frequency_penalty
    yield "max_completion_tokens", request.max_output_tokens
    yield "parallel_tool_calls", request.parallel_tool_calls
    yield "service_tier", request.service_tier
    yield "metadata", request.metadata
    yield "user", request.user
    if request.top_logprobs:
        yield "logprobs", True
        yield "top_logprobs", request.top_logprobs
    if request.reasoning is not None:
        yield "reasoning_effort", request.reasoning.effort
    if request.text is not None:
        yield "verbosity", request.text.verbosity


def response_format(request: ResponseRequest) -> Object | None:
    """Return the text format as the chat completions API's `response_format`, or None for plain
    text. Raises `BadRequest` if it is invalid.
    """
    form = None if request.text is None else request.text.format
    match form:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return form
        case {"type": "json_schema", "schema": dict(), "name": str()}:
            schema = {key: value for key, value in form.items() if key != "type"}
            return {"type": "json_schema", "json_schema": schema}
        case _:
            raise invalid(
                "text.format",
                "Use {'type': 'json_schema', 'name': …, 'schema': {…}}, 'json_object' or 'text'.",
            )
