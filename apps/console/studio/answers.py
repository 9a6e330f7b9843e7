"""Answers questions with an unsaved draft, in the studio's test chat.

An answer is a normal run, which counts toward the operator's costs and limits. The server does not
store the conversation: the page sends all messages and their state with each question.
"""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any, cast
from uuid import uuid4

from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from apps.accounts.caller import Caller
from apps.agent.events import (
    AttachmentAdded,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
)
from apps.agent.messages import ModelMessage, from_dict
from apps.agent.meter import (
    BLOCKED,
    CANCELLED,
    Meter,
    ModelCallReport,
    Reservation,
    SentRequest,
    ToolCallReport,
)
from apps.agent.model import ModelRequest
from apps.agent.progress import Progress
from apps.agent.streams import stream
from apps.agent.tool_titles import tool_title
from apps.cases.case_messages import LONGEST_NAME
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.console.studio.access import draft_caller, for_editors
from apps.console.studio.selected_version import select_version
from apps.console.studio.typed_draft import UnreadableDraft, body_of
from apps.doors.run_slots import AdmittedRun, answer_request, run_slot
from apps.errors import ApplicationBroken, QuickAppError
from apps.live.doors import STUDIO
from apps.live.history.request_view import view_of
from apps.live.history.sent_requests import split_request
from apps.live.hub import HUB
from apps.live.sent_request_rows import SentRequestRow
from apps.runs.asking_ledger import AskingLedger
from apps.runs.requests import RunRequest
from apps.runs.workspaces import open_workspace

MOST_MESSAGES = 200
Send = Callable[[str, dict[str, Any]], None]


class WatchedMeter:
    """Passes reports of model and tool calls to the run's meter, and also sends them to the
    page.
    """

    keeps_requests = True

    def __init__(self, meter: Meter, send: Send) -> None:
        self.meter = meter
        self.send = send

    async def admit(self, deployment: str, request: ModelRequest) -> Reservation | None:
        return await self.meter.admit(deployment, request)

    def request_sent(self, request: SentRequest) -> None:
        self.send("sent", sent_view(request))
        if self.meter.keeps_requests:
            self.meter.request_sent(request)

    def model_called(self, report: ModelCallReport) -> None:
        if report.error not in ("", CANCELLED):
            # The text of the failed run already explains a blocked request.
            said = "" if report.error == BLOCKED else report.said
            failed = {"model": report.deployment, "error": report.error, "said": said}
            self.send("failed", failed)
        self.meter.model_called(report)

    def tool_called(self, report: ToolCallReport) -> None:
        told = {"tool": report.tool, "title": tool_title(report.tool)}
        self.send("tool", {**told, "seconds": report.seconds, "failed": report.has_failed})
        self.meter.tool_called(report)

    def inside(self, application: str, version: int) -> "WatchedMeter":
        return WatchedMeter(self.meter.inside(application, version), self.send)


@for_editors
def answer(request: HttpRequest, row: Application) -> HttpResponseBase:
    """Stream the draft's answer as server-sent events. Raises `UnreadableDraft` if the request is
    invalid.
    """
    body = body_of(request)
    messages = messages_in(body)
    try:
        version = select_version(row, body)
        application = version.resolve(version.document)
    except ApplicationBroken as error:
        return JsonResponse({"message": " ".join(error.problems)}, status=422)
    events = frames(application, messages, draft_caller(request))
    streamed = StreamingHttpResponse(events, content_type="text/event-stream")
    streamed["Cache-Control"] = "no-store"
    streamed["X-Accel-Buffering"] = "no"
    return streamed


def messages_in(body: dict[str, Any]) -> tuple[ModelMessage, ...]:
    """Parse the messages in the request. Raises `UnreadableDraft` if they are invalid."""
    written = body.get("messages")
    if not isinstance(written, list) or not 0 < len(written) <= MOST_MESSAGES:
        raise UnreadableDraft(f"messages: send a list of 1 to {MOST_MESSAGES} messages.")
    if not all(map(is_message, written)) or written[-1]["role"] != "user":
        raise UnreadableDraft(
            "messages: send messages with a role and content; the last one must be from the user."
        )
    return tuple(map(from_dict, written))


def is_name(written: Any) -> bool:
    return isinstance(written, str) and len(written) <= LONGEST_NAME


def is_message(written: Any) -> bool:
    if not isinstance(written, dict) or not isinstance(written.get("content"), str):
        return False
    custom = written.get("custom_content") or {}
    return (
        written.get("role") in ("user", "assistant")
        and set(written) <= {"role", "content", "name", "custom_content"}
        and is_name(written.get("name", ""))
        and isinstance(custom, dict)
        and set(custom) <= {"state"}
        and isinstance(custom.get("state") or {}, dict)
    )


async def frames(
    application: ResolvedApplication, messages: tuple[ModelMessage, ...], caller: Caller
) -> AsyncGenerator[str, None]:
    # The bridge forwards any emitted object, not only run events.
    work: Any = partial(run_draft, application, messages, caller)
    try:
        async with aclosing(stream(work)) as batches:
            async for batch in batches:
                for name, data in cast(list[tuple[str, dict[str, Any]]], batch):
                    yield frame(name, data)
    except QuickAppError as error:
        yield frame("problem", {"text": str(error)})


async def run_draft(
    application: ResolvedApplication,
    messages: tuple[ModelMessage, ...],
    caller: Caller,
    emit: Callable[[tuple[str, dict[str, Any]]], None],
) -> None:
    """Run the application, and emit the events for the page. The last event has the token counts.
    Raises `QuickAppError` if the run fails.
    """
    began, state = time.monotonic(), dict[str, Any]()

    def send(name: str, data: dict[str, Any]) -> None:
        emit((name, data))

    def heard(event: Any) -> None:
        if isinstance(event, StateSaved):
            state.update(event.state)
        elif (told := encode_event(event)) is not None:
            send(*told)

    workspace = open_workspace(caller, application)
    run = AdmittedRun(STUDIO, application, RunRequest(messages), workspace, caller)
    async with run_slot(run, HUB.slots, HUB.summaries.recorded) as progress:
        progress.meter = WatchedMeter(progress.meter, send)
        ledger = await answer_request(run, heard, progress)
    if isinstance(ledger, AskingLedger) and ledger.asked is not None:
        send("ask", {"kind": ledger.asked.kind})
    send("end", {**spent_tokens(progress), "seconds": time.monotonic() - began, "state": state})


def spent_tokens(progress: Progress) -> dict[str, int]:
    return {
        "input": sum(one.input for one in progress.usage),
        "output": sum(one.output for one in progress.usage),
        "calls": progress.counts.iterations,
        "tool_calls": progress.counts.tool_calls,
    }


def encode_event(event: Any) -> tuple[str, dict[str, Any]] | None:
    """Convert a run event to a name and data for the page. None means that the page ignores it."""
    match event:
        case TextDelta() | RefusalDelta():
            return "text", {"text": event.text}
        case StageOpened():
            return "stage", {"id": event.stage_id, "title": event.title, "tool": event.tool}
        case StageRenamed():
            return "stage_name", {"id": event.stage_id, "suffix": event.suffix}
        case StageDelta() | Reasoning():
            return "stage_text", {"id": event.stage_id, "text": event.text}
        case StageClosed():
            end = {"seconds": event.seconds, "failed": event.reads_failed}
            return "stage_end", {"id": event.stage_id, **end}
        case NoticeAdded():
            return "notice", {"id": event.notice_id, "text": event.text}
        case AttachmentAdded():
            of = event.attachment
            return "attachment", {"title": of.title, "type": of.type, "url": of.url or ""}
        case _:
            return None


def sent_view(request: SentRequest) -> dict[str, Any]:
    """Convert a model request to JSON for the page."""
    members, parts = split_request(uuid4(), request.body or b"{}")
    prompt = [[span.layer, span.source, span.length] for span in request.prompt]
    row = SentRequestRow(model=request.model, members=members, prompt=prompt)
    view = view_of(row, {digest: part for (_, digest), part in parts.items()})
    lists = {
        name: [asdict(one) for one in getattr(view, name)]
        for name in ("prompt", "messages", "tools")
    }
    return {"model": view.model, "tokens": view.tokens, "parameters": view.parameters, **lists}


def frame(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False, default=str)}\n\n"
