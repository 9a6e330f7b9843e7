"""Converts requests to Anthropic's Messages API into run requests."""

from dataclasses import replace
from functools import partial
from typing import Any

from apps import tracing
from apps.capabilities.chat_context import NO_CHAT
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.client_conversation import (
    Object,
    check_instructions,
    form_answer,
    read_conversation,
)
from apps.doors.client_parameters import ClientTools, requires_client_tool, sort_parameters
from apps.doors.dialect import ParsedRequest, PreparedRun
from apps.live.doors import MESSAGES
from apps.messages.content import read_messages
from apps.messages.encoder import MessageEncoder, WholeMessageEncoder
from apps.messages.requests import (
    MessageRequest,
    effort_of,
    parameters_of,
    read_request,
    response_format,
)
from apps.messages.tools import read_choice, read_tools
from apps.runs.failures import WITH_LIMITS, RunFailure
from apps.runs.requests import RunRequest

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class MessagesDialect:
    door = MESSAGES
    passed_on = WITH_LIMITS

    def read(self, body: bytes) -> ParsedRequest:
        request, unknown = read_request(body)
        tools = read_tools(request.tools)
        choice = read_choice(request.tool_choice, tools.specs)
        shows_thinking = request.shows_thinking
        return ParsedRequest(
            partial(prepare, request, unknown, tools, choice),
            partial(MessageEncoder, shows_thinking=shows_thinking),
            partial(WholeMessageEncoder, shows_thinking=shows_thinking),
            request.model or "",
            bool(request.stream),
        )

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)


def prepare(
    request: MessageRequest,
    unknown: frozenset[str],
    tools: ClientTools,
    choice: str | Object | None,
    application: ResolvedApplication,
) -> PreparedRun:
    """Return the run for a request. Raises `BadRequest` if the application does not accept part of
    the request.
    """
    conversation = read_conversation(read_messages(request), dict(tools.specs))
    if conversation.instructions:
        check_instructions(application.manifest.orchestrator.client, "system")
    sent = parameters_of(request)
    parameters = sort_parameters(sent, application, has_functions=bool(tools.specs))
    effort = effort_of(request)
    run = RunRequest(
        conversation.messages,
        tools.specs,
        choice,
        response_format(request),
        parameters=parameters.forwarded,
        instructions=conversation.instructions,
        textual_results=conversation.textual_results,
        requires_client_tool=requires_client_tool(choice, tools.specs),
        form_answer=form_answer(conversation.messages),
        chat=replace(NO_CHAT, effort=effort) if effort else NO_CHAT,
    )
    return PreparedRun(run, parameters.ignored | unknown | without_effect(request, tools))


def without_effect(request: MessageRequest, tools: ClientTools) -> frozenset[str]:
    """Return the names of request parameters and tool types that have no effect."""
    found = {f"tools.{kind}" for kind in tools.ignored}
    if request.top_k is not None:
        found.add("top_k")
    return frozenset(found)


def error_body(found: RunFailure) -> dict[str, Any]:
    kind = TYPES.get(found.status) or ("api_error" if found.status >= 500 else TYPES[400])
    error = {"type": kind, "message": found.text}
    return {"type": "error", "error": error, "request_id": tracing.request_id()}
