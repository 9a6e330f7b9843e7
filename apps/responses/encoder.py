"""Encodes a run as a response in the format of OpenAI's API: a stream of events or one object."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import msgspec

from apps.agent.call_arguments import input_text
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    InteractionRequested,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.messages import ToolCall
from apps.doors.consumer import EVENT_STREAM, HEARTBEAT, JSON
from apps.doors.sealed_state import sealed
from apps.responses.output_items import REFUSAL, SUMMARY, TEXT, OutputItems, event_frame
from apps.responses.resource import Echo, Resource, write_logprobs, write_usage

ENDINGS = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Maps finish reasons of runs to the API's reasons for incomplete responses."""


class ResponseEncoder:
    """Encodes the events of a run as a stream of frames, with consecutive sequence numbers."""

    headers = EVENT_STREAM
    heartbeat = HEARTBEAT
    sends_end_separately = False

    def __init__(self, model: str, echo: Echo) -> None:
        self.resource = Resource(model, echo)
        self.items = OutputItems(
            self.resource, number=2
        )  # The two opening events have the numbers 0 and 1.
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()
        self.last: dict[str, Any] = {}

    # --- Encoder -------------------------------------------------------------------------------

    def opening(self) -> bytes:
        # The first batch is already encoded, but its items belong to later frames.
        begun = {**self.resource.write("in_progress"), "output": []}
        return event_frame("created", 0, response=begun) + event_frame(
            "in_progress", 1, response=begun
        )

    def encode(self, events: Iterable[Event]) -> bytes:
        for event in events:
            self.write(event)
        return self.items.take_frames()

    def error(self, body: Mapping[str, Any]) -> bytes:
        error = body["error"]
        self.items.close("incomplete")
        self.end_with("failed", error={"code": error["code"], "message": error["message"]})
        return self.items.take_frames()

    def end(self) -> bytes:
        return b""

    # --- Events --------------------------------------------------------------------------------

    def write(self, event: Event) -> None:  # noqa: C901 - one case for each event
        if isinstance(event, TextDelta):
            self.text(event)
            return
        match event:
            case RefusalDelta(text):
                self.items.add_delta(self.items.open_part(REFUSAL), text)
            case StageOpened(is_reasoning=True):
                self.items.open_reasoning()
            case Reasoning(_, text):
                self.items.add_delta(self.items.open_part(SUMMARY), text)
            case AttachmentAdded(attachment):
                self.cite(attachment.url or attachment.reference_url, attachment.title)
            case AnnotationAdded(annotation):
                self.cite(annotation.get("url"), annotation.get("title"))
            case ToolCallsRequested(calls, text_tools):
                for call in calls:
                    self.call(call, is_text=call.name in text_tools)
            case StateSaved(state):
                self.state = state
            case Spent(usage):
                self.usage = usage
            case RunFinished(reason, usage):
                self.usage = usage
                self.finish(reason)
            case StageOpened() | StageRenamed() | StageDelta() | StageAttachment() | StageClosed():
                pass  # The protocol does not support the application's own tools.
            case NoticeAdded() | SubagentStarted() | SubagentEnded() | TodoChanged():
                pass
            case InteractionRequested():
                pass  # The text contains the question.
            case TurnRestarted():
                pass  # Only stored runs are resumed in another process.
            case _:
                assert_never(event)

    def text(self, event: TextDelta) -> None:
        part = self.items.open_part(TEXT)
        if event.logprobs is None:
            self.items.add_delta(part, event.text)
            return
        part.deltas.append(event.text)
        part.logprobs += event.logprobs
        written = write_logprobs(event.logprobs)
        self.items.frame("output_text.delta", **part.location, delta=event.text, logprobs=written)

    def cite(self, address: str | None, title: str | None) -> None:
        """Add a citation for a file or a web page after the text so far."""
        if not address:
            # The attachment's content is part of the answer, and the API has no field for it.
            return
        part = self.items.open_part(TEXT)
        end = sum(map(len, part.deltas))
        annotation = {
            "type": "url_citation",
            "url": address,
            "title": title or address,
            "start_index": end,
            "end_index": end,
        }
        location = {**part.location, "annotation_index": len(part.annotations)}
        part.annotations.append(annotation)
        self.items.frame("output_text.annotation.added", **location, annotation=annotation)

    def call(self, call: ToolCall, *, is_text: bool) -> None:
        kind, field = ("custom_tool_call", "input") if is_text else ("function_call", "arguments")
        content = input_text(call.arguments) if is_text else call.arguments
        namespace, name = self.resource.echo.namespaces.get(call.name, ("", call.name))
        known = {"call_id": call.id, "name": name} | ({"namespace": namespace} if namespace else {})
        item = self.items.open(kind, **known, **{field: ""})
        place = {"item_id": item["id"], "output_index": len(self.resource.output)}
        self.items.frame(f"{kind}_{field}.delta", **place, delta=content)
        self.items.frame(f"{kind}_{field}.done", **place, name=name, **{field: content})
        item[field] = content
        self.items.close()

    # --- The end -------------------------------------------------------------------------------

    def finish(self, reason: str) -> None:
        self.items.close()
        if self.state and self.resource.echo.includes_state:
            self.items.open_reasoning(encrypted_content=sealed(self.state))
            self.items.close()
        if (cause := ENDINGS.get(reason)) is not None:
            self.end_with("incomplete", incomplete_details={"reason": cause})
        else:
            self.end_with("completed")

    def end_with(self, status: str, event: str = "", **fields: Any) -> None:
        self.last = self.resource.write(status, usage=write_usage(self.usage), **fields)
        self.items.frame(event or status, response=self.last)


class WholeResponse:
    """Collects the events of a run in one response object."""

    headers = JSON

    def __init__(self, model: str, echo: Echo) -> None:
        self.encoder = ResponseEncoder(model, echo)

    def feed(self, events: Iterable[Event]) -> None:
        self.encoder.encode(events)

    @property
    def last(self) -> dict[str, Any]:
        """Return the final response object. It is complete only after the run has ended."""
        return self.encoder.last

    def body(self) -> bytes:
        return msgspec.json.encode(self.last)
