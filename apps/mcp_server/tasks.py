"""Serves the MCP extension `io.modelcontextprotocol/tasks`. A tool call starts a stored run, and
the client requests the result later.

The question and the answer are stored in one of the caller's conversations. The run continues if
the client disconnects or the server restarts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import mcp_types as types
from channels.db import database_sync_to_async
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from apps.agent.messages import ModelMessage, attachment_from_dict
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import own
from apps.conversations.answering import answers
from apps.conversations.answering.continuation import sweeper
from apps.conversations.ask import Ask
from apps.conversations.asking import interruptions
from apps.conversations.interactions.decisions import answer_interaction
from apps.conversations.models import Message
from apps.conversations.outcome.endings import gather_transcript
from apps.doors.bodies import shorten_text
from apps.errors import Closing
from apps.live.doors import MCP
from apps.live.events import RunFailed
from apps.live.journal import journal
from apps.live.models import Interaction, Run
from apps.mcp_server.answer import GatheredAnswer
from apps.mcp_server.content import answer_blocks, answer_result
from apps.mcp_server.interactions import can_ask
from apps.mcp_server.requests import AdmittedRequest, admitted
from apps.mcp_server.task_questions import answer_frames, input_requests, open_questions

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_MILLISECONDS = 1000
STATUSES = {
    Run.Status.DONE: "completed",
    # The protocol uses `failed` only for protocol errors.
    Run.Status.FAILED: "completed",
    Run.Status.STOPPED: "cancelled",
}
Json = dict[str, Any]


class TaskParams(types.RequestParams):
    task_id: str = Field(max_length=100)


class UpdateParams(TaskParams):
    input_responses: dict[str, Any]


def has_tasks(context: ServerRequestContext[Any, Any]) -> bool:
    """Return True if the client supports tasks in this request."""
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    return EXTENSION in (extensions or {})


def can_be_task(context: ServerRequestContext[Any, Any], message: ModelMessage) -> bool:
    """Return True if a call can run as a task.

    The caller must be able to own conversations. The client must be able to show forms, because
    only the client can answer the run's questions. Calls with files never run as tasks.
    """
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    is_owner = bool(admitted(context).caller.bucket)
    is_plain = not message.attachments
    return is_modern and is_owner and is_plain and has_tasks(context) and can_ask(context)


async def begin_task(
    request: AdmittedRequest, application: ResolvedApplication, message: ModelMessage
) -> Json:
    """Start a run, and return its task. Raises `QuickAppError` if it cannot be started."""
    if request.hub.is_closing:
        raise Closing("server_stopping", "The server is restarting. Try again in a moment.")
    ask = Ask(id=uuid4(), text=message.text, begin=uuid4())
    workspaces = request.workspaces(application)
    started = await answers.ask(request.hub, request.caller, application, workspaces, ask, MCP)
    return {"resultType": "task", **envelope(started.run, "working")}


async def get_task(context: ServerRequestContext[Any, Any], params: TaskParams) -> Json:
    request = check(context, params)
    run = await current_run(request, params.task_id)
    asked: list[Interaction] = await database_sync_to_async(open_questions)(run)
    if asked:
        return {**envelope(run, "input_required"), "inputRequests": input_requests(asked)}
    status = STATUSES.get(Run.Status(run.status), "working")
    told = envelope(run, status)
    if status == "completed":
        result = await result_of(request, run)
        told["result"] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return told


async def update_task(context: ServerRequestContext[Any, Any], params: UpdateParams) -> Json:
    """Answer a task's questions. Responses to questions that are not open are ignored."""
    request = check(context, params)
    run = await current_run(request, params.task_id)
    asked: list[Interaction] = await database_sync_to_async(open_questions)(run)
    for frame in answer_frames(run, asked, params.input_responses):
        await answer_interaction(request.hub, request.caller, None, frame)
    return {}


async def cancel_task(context: ServerRequestContext[Any, Any], params: TaskParams) -> Json:
    request = check(context, params)
    run = await current_run(request, params.task_id)
    if run.status in Run.OPEN:
        await interruptions.stop(request.hub, run.stream)
    return {}


def check(context: ServerRequestContext[Any, Any], params: TaskParams) -> AdmittedRequest:
    """Return the admitted request. Raises `MCPError` if the client does not support tasks, or if
    the `Mcp-Name` header names a different task.
    """
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
    if not has_tasks(context):
        needed: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        text = "Missing required client capability"
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, text, needed)
    sent: Any = context.request
    if sent.headers.get("mcp-name") != params.task_id:
        raise MCPError(types.HEADER_MISMATCH, "Send the task's ID in the header Mcp-Name.")
    return admitted(context)


async def current_run(request: AdmittedRequest, id: str) -> Run:
    """Return the run of a task. If the run's process has died, resume the run in this process.
    Raises `MCPError` if the caller has no such task.
    """
    find = database_sync_to_async(partial(find_run, request, id))
    run: Run = await find()
    if run.status in Run.GOING:
        await sweeper(request.hub, request.workspaces(request.application)).sweep(run.stream)
        run = await find()
    return run


def find_run(request: AdmittedRequest, id: str) -> Run:
    caller, application = request.caller, request.application
    try:
        pk = UUID(id)
    except ValueError:
        raise unknown_task(id) from None
    streams = own(caller).values("pk")
    rows = Run.objects.filter(pk=pk, bucket=caller.bucket, door=MCP, stream__in=streams)
    if application is not None:
        rows = rows.filter(application_pk=application.id)
    run = rows.first()
    if run is None:
        raise unknown_task(id)
    return run


def unknown_task(id: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"Unknown task: '{shorten_text(id)}'.")


def envelope(run: Run, status: str) -> Json:
    return {
        "taskId": str(run.pk),
        "status": status,
        "createdAt": run.started_at.isoformat(),
        "lastUpdatedAt": (run.finished_at or run.beat_at).isoformat(),
        "ttlMs": None,
        "pollIntervalMs": POLL_MILLISECONDS,
    }


async def result_of(request: AdmittedRequest, run: Run) -> types.CallToolResult:
    """Return the answer or the failure of an ended run as a tool result."""
    answer, failure = await database_sync_to_async(read_answer)(run)
    if failure:
        return types.CallToolResult(content=[types.TextContent(text=failure)], is_error=True)
    files = request.open_workspace(request.caller, request.application).files
    return answer_result(answer, await answer_blocks(answer, files))


def failure_text(run: Run) -> str:
    failures = [one for one in journal.read_run(run.pk) if isinstance(one, RunFailed)]
    if not failures:
        return "The task failed."
    text, reference = failures[-1].text, failures[-1].reference
    return f"{text} (error reference: {reference})" if reference else text


def read_answer(run: Run) -> tuple[GatheredAnswer, str]:
    """Return the stored answer of a run and "". If the run failed, return an empty answer and the
    reason.
    """
    answer = GatheredAnswer()
    if run.status == Run.Status.FAILED:
        return answer, failure_text(run)
    stored = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    if stored is not None:
        written: list[Mapping[str, Any]] = stored.attachments
        answer.texts, answer.reason = [stored.text], stored.finish_reason
        answer.attachments = [attachment_from_dict(one) for one in written]
    answer.usage = gather_transcript(run).usage
    return answer, ""
