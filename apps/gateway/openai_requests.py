"""What OpenAI's clients may send: every parameter is forwarded, refused by name, or told as ignored.

A parameter that nobody knows makes the first, strict decoder fail; only such a request is decoded
again, so that all others cost one decoding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.agent.tools import ToolSpec
from apps.gateway import schemas
from apps.gateway.schemas import ChatRequest, Object, invalid, read_request
from apps.runs.parameters import LIMITS

FORWARDED = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"),
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"),
    *("reasoning_effort", "verbosity", "prediction"),
)
PERMITTED = ("metadata", "service_tier", "user")
"""They cost or identify, so the manifest must allow them."""
UNSUPPORTED = {
    "functions": "Legacy functions are not supported. Send 'tools'.",
    "function_call": "Legacy functions are not supported. Send 'tool_choice'.",
    "audio": "Answers in audio are not supported. Leave it out.",
    "web_search_options": "Leave it out; the application has its own tools.",
}


class OpenAIRequest(ChatRequest, forbid_unknown_fields=True):
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


class WithUnknown(OpenAIRequest, forbid_unknown_fields=False):
    pass


_decode = msgspec.json.Decoder(OpenAIRequest).decode
_decode_with_unknown = msgspec.json.Decoder(WithUnknown).decode
_decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read(body: bytes, *, max_depth: int, max_messages: int) -> tuple[OpenAIRequest, frozenset[str]]:
    """The request, and the names of the parameters that nobody knows. Raises `BadRequest`."""
    unknown: Collection[str] = ()

    def decode(body: bytes) -> OpenAIRequest:
        nonlocal unknown
        try:
            return _decode(body)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
        request = _decode_with_unknown(body)
        unknown = _decode_names(body).keys() - set(OpenAIRequest.__struct_fields__)
        return request

    request = read_request(body, decode, max_depth=max_depth, max_messages=max_messages)
    check_supported(request)
    return request, frozenset(unknown)


def check_supported(request: OpenAIRequest) -> None:
    """Raises `BadRequest` for the first parameter that cannot be honoured."""
    for name, advice in UNSUPPORTED.items():
        if getattr(request, name) is not None:
            raise invalid(name, advice)
    if request.store:
        raise invalid("store", "Answers are not stored here. Leave it out.")
    if set(request.modalities or ()) - {"text"}:
        raise invalid("modalities", "Only text is supported. Write ['text'] or leave it out.")
    if request.stream_options is not None and not request.stream:
        raise invalid("stream_options", "It is only allowed with 'stream': true.")
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        raise invalid("max_tokens", "Send it or 'max_completion_tokens', not both.")


def to_specs(request: OpenAIRequest) -> dict[str, ToolSpec]:
    """The client's own functions by name, with the strictness that it wants of them. Raises `BadRequest`."""
    specs = schemas.to_specs(request)
    for index, tool in enumerate(request.tools or ()):
        if tool.type != "function" or tool.function is None or tool.function.strict is None:
            continue
        name, strict = tool.function.name, tool.function.strict
        if not isinstance(strict, bool):
            raise invalid(f"tools.{index}.function.strict", "Expected `bool | null`.")
        specs[name] = replace(specs[name], strict=strict)
    return specs


def requires_client_tool(request: OpenAIRequest, external: Collection[str]) -> bool:
    """Whether a tool of the client has to be called."""
    choice = request.tool_choice
    if isinstance(choice, dict):
        return choice["function"]["name"] in external
    return choice == "required" and bool(external)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The parameters that the model is asked with, and the names of those without effect."""

    forwarded: Mapping[str, Any]
    ignored: frozenset[str]


def wishes(
    request: OpenAIRequest,
    slug: str,
    *,
    fixed: Collection[str],
    permitted: Collection[str],
) -> Wishes:
    """Sort the parameters; `fixed` are those that the manifest sets, `permitted` what it allows."""
    sent = dict(given(request))
    held = LIMITS if any(name in fixed for name in LIMITS) else ()
    allowed = {*FORWARDED, *permitted}.difference(fixed, held)
    if any(tool.type == "function" for tool in request.tools or ()):
        allowed.add("parallel_tool_calls")
    forwarded = {name: value for name, value in sent.items() if name in allowed}
    return Wishes(
        forwarded, frozenset((sent.keys() - allowed) | set(without_effect(request, slug)))
    )


def given(request: OpenAIRequest) -> Iterator[tuple[str, Any]]:
    for name in (*FORWARDED, *PERMITTED, "parallel_tool_calls"):
        value = getattr(request, name)
        if value is not None:
            yield name, value


def without_effect(request: OpenAIRequest, slug: str) -> Iterator[str]:
    """What else is accepted although nothing follows from it."""
    if request.model not in (None, slug):
        yield "model"
    for name, value in (request.stream_options or {}).items():
        if name != "include_usage" and value not in (None, False):
            yield f"stream_options.{name}"
    if any(tool.type != "function" for tool in request.tools or ()):
        yield "tools.static_function"
