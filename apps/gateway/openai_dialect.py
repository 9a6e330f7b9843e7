"""OpenAI's dialect of a completion, for all callers but DIAL Core.

Each parameter is forwarded, refused by name, or named as ignored. An unknown one makes the first,
strict decoder fail; only such a request is decoded again.
"""

import heapq
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs

from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import QuickAppError
from apps.gateway import chat_requests
from apps.gateway.chat_requests import (
    SYSTEM,
    ChatRequest,
    Object,
    Prepare,
    PreparedRun,
)
from apps.gateway.openai_messages import read_conversation
from apps.gateway.places import KEYS, placed
from apps.gateway.refusals import invalid
from apps.gateway.request_checks import read_request
from apps.manifest.orchestrator import ClientPermissions
from apps.runs.requests import LIMITS, RunRequest
from apps.workspace.port import Workspace

FORWARDED = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"),
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"),
    *("reasoning_effort", "verbosity", "prediction"),
)
PERMITTED = ("metadata", "service_tier", "user")
"""They cost money or identify a person, so the manifest has to allow them."""
SORTED = (*FORWARDED, *PERMITTED, "parallel_tool_calls")
UNSUPPORTED = {
    "functions": "Legacy functions are not supported. Send 'tools'.",
    "function_call": "Legacy functions are not supported. Send 'tool_choice'.",
    "audio": "Answers in audio are not supported. Leave it out.",
    "web_search_options": "Leave it out; the application has its own tools.",
}

IGNORED_HEADER = b"x-ignored-parameters"
LONGEST_NAME = 64
MOST_NAMES = 200
LONGEST_HEADER = 1000
_unsafe = re.compile(r"[^A-Za-z0-9_.-]")


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

    @property
    def end_user(self) -> str:
        return self.user or ""


class WithUnknown(OpenAIRequest, forbid_unknown_fields=False):
    pass


_decode = msgspec.json.Decoder(OpenAIRequest).decode
_decode_with_unknown = msgspec.json.Decoder(WithUnknown).decode
_decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read(body: bytes) -> tuple[OpenAIRequest, Prepare]:
    """The request, and its run for an application. Both raise `BadRequest`."""
    asked, unknown = parse(body)
    return asked, partial(prepare, asked, unknown)


def parse(body: bytes) -> tuple[OpenAIRequest, frozenset[str]]:
    """The request, and the names of its unknown parameters. Raises `BadRequest`."""
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

    request = read_request(body, decode)
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


def prepare(
    asked: OpenAIRequest, unknown: frozenset[str], application: ResolvedApplication
) -> PreparedRun:
    told = asked.metadata or {}
    if told.keys() & KEYS:  # they are for us, and no business of the model's service
        rest = {key: text for key, text in told.items() if key not in KEYS}
        asked = msgspec.structs.replace(asked, metadata=rest or None)
    external = to_specs(asked)
    conversation = read_conversation(asked.messages, external)
    permissions = application.manifest.orchestrator.client
    if conversation.instructions:
        check_system_messages(asked, permissions)
    parameters = sort_parameters(
        asked,
        application.slug,
        fixed=application.parameters.keys(),
        permitted=application.client_parameters,
    )
    request = RunRequest(
        conversation.messages,
        external,
        asked.tool_choice,
        asked.response_format,
        parameters=parameters.forwarded,
        instructions=conversation.instructions,
        textual_results=conversation.textual_results,
        requires_client_tool=requires_client_tool(asked, external),
    )
    return placed(PreparedRun(request, parameters.ignored | unknown), application, told, "metadata")


def check_system_messages(asked: OpenAIRequest, permissions: ClientPermissions) -> None:
    """Raises `BadRequest` where the manifest forbids them."""
    if permissions.system_messages:
        return
    index = next(i for i, message in enumerate(asked.messages) if message.role in SYSTEM)
    raise invalid(
        f"messages.{index}.role",
        f"This application forbids '{asked.messages[index].role}' messages of its clients "
        "(orchestrator.client.system_messages). Leave it out.",
    )


async def with_unsupported(
    prepared: PreparedRun, application: ResolvedApplication, workspace: Workspace
) -> PreparedRun:
    """Add the parameters that the model does not support to the ignored ones.

    Raises `BadRequest` for `logprobs`.
    """
    parameters = prepared.request.parameters
    if not parameters:
        return prepared
    try:
        info = await workspace.deployment(application.deployment_id)
    except QuickAppError:
        return prepared  # the run reports it
    supported = info.supported_parameters
    if supported is None:
        return prepared
    if parameters.get("logprobs") and "logprobs" not in supported:
        raise invalid("logprobs", "The model of this application tells none. Leave it out.")
    return structs.replace(prepared, ignored=prepared.ignored | (parameters.keys() - supported))


def to_specs(request: OpenAIRequest) -> dict[str, ToolSpec]:
    """The client's own functions by name, with their `strict`. Raises `BadRequest`."""
    specs = chat_requests.to_specs(request)
    for index, tool in enumerate(request.tools or ()):
        if tool.type != "function" or tool.function is None or tool.function.strict is None:
            continue
        name, strict = tool.function.name, tool.function.strict
        if not isinstance(strict, bool):
            raise invalid(f"tools.{index}.function.strict", "Expected `bool | null`.")
        specs[name] = replace(specs[name], strict=strict)
    return specs


def requires_client_tool(request: OpenAIRequest, external: Collection[str]) -> bool:
    """Whether the model has to call one of the client's tools."""
    choice = request.tool_choice
    if isinstance(choice, dict):
        return choice["function"]["name"] in external
    return choice == "required" and bool(external)


class SortedParameters(msgspec.Struct, frozen=True):
    """The parameters that are sent to the model, and the names of those without effect."""

    forwarded: Mapping[str, Any]
    ignored: frozenset[str]


def sort_parameters(
    request: OpenAIRequest,
    slug: str,
    *,
    fixed: Collection[str],
    permitted: Collection[str],
) -> SortedParameters:
    """`fixed` are the parameters that the manifest sets, `permitted` those that it allows."""
    sent = given(request)
    if not sent:
        return SortedParameters(sent, frozenset(without_effect(request, slug)))
    held = LIMITS if any(name in fixed for name in LIMITS) else ()
    allowed = {*FORWARDED, *permitted}.difference(fixed, held)
    if any(tool.type == "function" for tool in request.tools or ()):
        allowed.add("parallel_tool_calls")
    forwarded = {name: value for name, value in sent.items() if name in allowed}
    return SortedParameters(
        forwarded, frozenset((sent.keys() - allowed) | set(without_effect(request, slug)))
    )


def given(request: OpenAIRequest) -> dict[str, Any]:
    values = zip(SORTED, attrgetter(*SORTED)(request), strict=True)
    return {name: value for name, value in values if value is not None}


def without_effect(request: OpenAIRequest, slug: str) -> Iterator[str]:
    """Other accepted parts of a request that have no effect."""
    if request.model not in (None, slug):
        yield "model"
    for name, value in (request.stream_options or {}).items():
        if name != "include_usage" and value not in (None, False):
            yield f"stream_options.{name}"
    if any(tool.type != "function" for tool in request.tools or ()):
        yield "tools.static_function"


def ignored_header(names: Collection[str]) -> tuple[tuple[bytes, bytes], ...]:
    """The header that names ignored parameters, the first ones of very many; () for none."""
    if not names:
        return ()
    first = heapq.nsmallest(MOST_NAMES, names)
    # Clients choose the names: nothing in them may end the line or look like two names.
    safe = sorted({_unsafe.sub("_", name[:LONGEST_NAME]) or "_" for name in first})
    value = ", ".join(safe)
    if len(value) > LONGEST_HEADER:
        value = f"{value[:LONGEST_HEADER].rpartition(', ')[0]}, ..."
    return ((IGNORED_HEADER, value.encode()),)
