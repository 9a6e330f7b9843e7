"""Converts requests to OpenAI's Responses API into runs."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.client_conversation import (
    ChatMessage,
    Object,
    ParsedConversation,
    check_instructions,
    form_answer,
    read_conversation,
)
from apps.doors.client_parameters import ClientTools, offered, requires_client_tool, sort_parameters
from apps.doors.dialect import ParsedRequest, PreparedRun
from apps.doors.openai_errors import GENERAL_CODES, openai_error
from apps.doors.user_place import with_user_place, without_user_place
from apps.live.doors import RESPONSES
from apps.responses.encoder import ResponseEncoder, WholeResponse
from apps.responses.items import is_reference, read_items
from apps.responses.requests import (
    ResponseRequest,
    continues_stored,
    parameters_of,
    read_request,
    response_format,
)
from apps.responses.resource import Echo, echo_of
from apps.responses.tools import ResponseToolChoice, read_choice, read_tools
from apps.runs.failures import TOO_MANY, WITH_LIMITS, RunFailure
from apps.runs.requests import RunRequest

INTERNAL = "server_error"


class ParsedResponse(ParsedRequest, frozen=True, kw_only=True):
    """A parsed request."""

    request: ResponseRequest
    unknown: frozenset[str]
    messages: Sequence[ChatMessage]
    """The stored messages of the conversation, followed by the messages in the request's input."""
    echo: Echo


class ResponsesDialect:
    door = RESPONSES
    passed_on = WITH_LIMITS

    def read(self, body: bytes) -> ParsedRequest:
        request, unknown = read_request(body)
        return parse_response(request, unknown)

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)


def parse_response(
    request: ResponseRequest,
    unknown: frozenset[str],
    stored: Sequence[Object] | None = None,
    conversation: UUID | None = None,
) -> ParsedResponse:
    """Parse a request. `stored` contains the stored items that precede the request's input, or is
    None if they are not loaded yet.

    `conversation` is None if the response is not stored. Raises `BadRequest` if the request is
    invalid.
    """
    tools = read_tools(request.tools)
    choice = read_choice(request.tool_choice, tools.specs)
    is_partial = stored is None and needs_stored(request)
    messages = [] if is_partial else read_items(request.input or [], stored or ())
    echo = echo_of(request, tools, conversation)
    return ParsedResponse(
        partial(prepare, request, unknown, messages, tools, choice),
        partial(ResponseEncoder, echo=echo),
        partial(WholeResponse, echo=echo),
        request.model or "",
        bool(request.stream),
        request.user or request.safety_identifier or "",
        request=request,
        unknown=unknown,
        messages=messages,
        echo=echo,
    )


def needs_stored(request: ResponseRequest) -> bool:
    """Return True if the request refers to stored responses, conversations or items."""
    items = [] if isinstance(request.input, str) else request.input or []
    return continues_stored(request) or any(map(is_reference, items))


def prepare(
    request: ResponseRequest,
    unknown: frozenset[str],
    messages: list[ChatMessage],
    tools: ClientTools,
    choice: ResponseToolChoice,
    application: ResolvedApplication,
) -> PreparedRun:
    """Return the run that answers a request. Raises `BadRequest` if the application does not accept
    the request.
    """
    conversation = read_conversation(messages, dict(tools.specs))
    instructions = all_instructions(request, conversation)
    if instructions:
        path = "instructions" if request.instructions else "input"
        check_instructions(application.manifest.orchestrator.client, path)
    sent = without_user_place(parameters_of(request))
    parameters = sort_parameters(sent, application, has_functions=bool(tools.specs))
    allowed = choice.allowed
    external = tools.specs if allowed is None else offered(tools.specs, allowed)
    run = RunRequest(
        conversation.messages,
        external,
        choice.choice,
        response_format(request),
        parameters=parameters.forwarded,
        instructions=instructions,
        textual_results=conversation.textual_results,
        requires_client_tool=requires_client_tool(choice.choice, external),
        form_answer=form_answer(conversation.messages),
    )
    ignored = (
        parameters.ignored | unknown | without_effect(request, tools, choice, application.slug)
    )
    return with_user_place(
        PreparedRun(run, ignored), application, request.metadata or {}, "metadata"
    )


def all_instructions(request: ResponseRequest, conversation: ParsedConversation) -> str:
    return "\n\n".join(filter(None, (request.instructions, conversation.instructions)))


def without_effect(
    request: ResponseRequest, tools: ClientTools, choice: ResponseToolChoice, slug: str
) -> frozenset[str]:
    """Return the names of request parameters that the application with this slug ignores."""
    found = {f"tools.{kind}" for kind in tools.ignored}
    if request.model not in (None, slug):
        found.add("model")
    if choice.is_ignored:
        found.add("tool_choice")
    if request.max_tool_calls is not None:
        found.add("max_tool_calls")
    if request.truncation not in (None, "disabled"):
        found.add("truncation")
    if request.prompt_cache_key is not None:
        found.add("prompt_cache_key")
    return frozenset(found)


def error_body(found: RunFailure) -> dict[str, Any]:
    return {"error": openai_error(found, internal=INTERNAL, code=error_code(found))}


def error_code(found: RunFailure) -> str | None:
    if found.code not in GENERAL_CODES and not found.code.isdigit():
        return found.code
    if found.status == TOO_MANY:
        return "rate_limit_exceeded"
    return None if found.status < 500 else INTERNAL
