"""Converts AG-UI requests to run requests."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import structs

from apps.ag_ui.content import read_messages
from apps.ag_ui.encoder import RunEncoder
from apps.ag_ui.interrupts import Resumption, read_resume
from apps.ag_ui.requests import RunInput, context_text, read_request, read_tools
from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.client_conversation import ChatMessage, check_instructions, read_conversation
from apps.doors.dialect import ParsedRequest, PreparedRun, WholeEncoder
from apps.doors.user_place import KEYS, with_narrative, with_user_place
from apps.live.doors import AG_UI
from apps.runs.failures import WITH_LIMITS, RunFailure
from apps.runs.requests import RunRequest

PROPS = "forwardedProps"


class AgUiDialect:
    door = AG_UI
    passed_on = WITH_LIMITS

    def read(self, body: bytes) -> ParsedRequest:
        request, unknown = read_request(body)
        tools = read_tools(request.tools)
        messages = read_messages(request.messages)
        resumption = read_resume(request.resume, messages)
        encoder = partial(
            RunEncoder,
            thread=request.thread_id,
            run=request.run_id,
            resumed=None if resumption is None else resumption.call,
            protocol=request.protocol_version,
        )
        return ParsedRequest(
            partial(prepare, request, unknown, tools, messages, resumption), encoder, whole
        )

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return {"error": {"message": found.text, "code": found.code}}


def whole(application: str) -> WholeEncoder:
    raise NotImplementedError("AG-UI supports only streaming responses.")


def prepare(
    request: RunInput,
    unknown: frozenset[str],
    tools: dict[str, ToolSpec],
    messages: list[ChatMessage],
    resumption: Resumption | None,
    application: ResolvedApplication,
) -> PreparedRun:
    """Return the run for a request. Raises `BadRequest` if the application does not accept it."""
    answered = messages if resumption is None else [*messages, resumption.message]
    conversation = read_conversation(answered, tools)
    if conversation.instructions:
        check_instructions(application.manifest.orchestrator.client, "messages")
    run = RunRequest(
        conversation.messages,
        tools,
        instructions=conversation.instructions,
        textual_results=conversation.textual_results,
        form_answer=None if resumption is None else resumption.form_answer,
    )
    prepared = PreparedRun(run, unknown | without_effect(request))
    if resumption is not None:  # The newest message is the answer, so nothing may be added to it.
        return prepared
    prepared = with_user_place(prepared, application, read_props(request), PROPS)
    if not (context := context_text(request.context)):
        return prepared
    asked = structs.replace(
        prepared.request, messages=with_narrative(prepared.request.messages, context)
    )
    return structs.replace(prepared, request=asked)


def read_props(request: RunInput) -> Mapping[str, Any]:
    return request.forwarded_props if isinstance(request.forwarded_props, Mapping) else {}


def without_effect(request: RunInput) -> frozenset[str]:
    """Return the names of request fields that have no effect."""
    found = {f"{PROPS}.{name}" for name in read_props(request).keys() - KEYS}
    return frozenset({*found, "state"} if request.state else found)
