"""Encodes the events of a run as AG-UI events."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import msgspec

from apps.ag_ui.events import (
    VERSION,
    TextStream,
    call_frames,
    custom,
    frame,
    new_id,
    write_usage,
)
from apps.ag_ui.interrupts import ResumedInterrupt, shown_call, write_interrupt
from apps.ag_ui.stages import StageFrames
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
from apps.agent.messages import ToolCall, attachment_to_dict
from apps.doors.consumer import EVENT_STREAM, HEARTBEAT
from apps.doors.sealed_state import sealed
from apps.runs.asking_ledger import WaitingCalls, read_question

TEXT, REASONING = "TEXT_MESSAGE", "REASONING_MESSAGE"


class RunEncoder:
    """Encodes a run's events as frames of an event stream.

    The answer's state is the `encryptedValue` of the last message. A question for the user becomes
    an interrupt, and its text, which ends the answer in other APIs, is dropped.
    """

    headers = EVENT_STREAM
    heartbeat = HEARTBEAT
    sends_end_separately = False

    def __init__(
        self,
        slug: str,
        *,
        thread: str,
        run: str,
        resumed: ResumedInterrupt | None,
        protocol: str | None = VERSION,
    ) -> None:
        self.ids = {"threadId": thread, "runId": run}
        self.frames: list[bytes] = []
        self.stages = StageFrames(resumed)
        self.growing: TextStream | None = None
        self.message = ""
        self.protocol = protocol
        self.pending: list[str] = []
        self.asks = False
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()

    # --- Encoder -------------------------------------------------------------------------------

    def opening(self) -> bytes:
        return frame("RUN_STARTED", **self.ids, protocolVersion=VERSION)

    def encode(self, events: Iterable[Event]) -> bytes:
        for event in events:
            self.write(event)
        frames = b"".join(self.frames)
        self.frames.clear()
        return frames

    def error(self, body: Mapping[str, Any]) -> bytes:
        self.close_message()
        self.frames.append(self.stages.end(failed=True))
        self.frames.append(frame("RUN_ERROR", **body["error"], **self.written_usage))
        return self.encode(())

    def end(self) -> bytes:
        return b""

    # --- Events --------------------------------------------------------------------------------

    def write(self, event: Event) -> None:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.grow(TEXT, text)
            case StageOpened(is_reasoning=True):
                self.close_message()  # This is the reasoning of a new model answer.
            case Reasoning(_, text):
                self.grow(REASONING, text)
            case StageOpened():
                self.close_message()
                self.frames.append(self.stages.begin(event))
            case StageRenamed() | StageDelta() | StageAttachment() | StageClosed():
                self.frames.append(self.stages.write(event))
            case SubagentStarted():
                self.frames.append(self.stages.begin_subagent(event))
            case SubagentEnded():
                self.frames.append(self.stages.end_subagent(event))
            case ToolCallsRequested(calls):
                self.call(calls)
            case AttachmentAdded(attachment):
                self.frames.append(custom("attachment", attachment_to_dict(attachment)))
            case AnnotationAdded(annotation):
                self.frames.append(custom("annotation", annotation))
            case NoticeAdded(notice, text):
                self.frames.append(custom("notice", {"id": notice, "text": text}))
            case TodoChanged(text):
                self.frames.append(custom("todo", {"text": text}))
            case InteractionRequested():
                self.asks = True
            case StateSaved(state):
                self.state = state
            case Spent(usage):
                self.usage = usage
            case RunFinished(reason, usage):
                self.usage = usage
                self.finish(reason)
            case TurnRestarted():
                pass  # Only stored runs are resumed in another process.
            case _:
                assert_never(event)

    def grow(self, kind: str, text: str) -> None:
        if not text or self.asks:
            return
        if self.growing is None or self.growing.kind != kind:
            self.open_message(kind)
        if self.growing is not None:
            self.frames.append(self.growing.delta(text))

    def open_message(self, kind: str) -> None:
        self.close_message()
        self.growing = TextStream(kind, new_id())
        if kind == TEXT:
            self.message = self.growing.id
        else:
            self.frames.append(frame("REASONING_START", messageId=self.growing.id))
        self.frames.append(self.growing.start())

    def close_message(self) -> None:
        if self.growing is None:
            return
        self.frames.append(self.growing.end())
        if self.growing.kind == REASONING:
            self.frames.append(frame("REASONING_END", messageId=self.growing.id))
        self.growing = None

    def call(self, calls: Iterable[ToolCall]) -> None:
        """Write the calls to the client's tools as part of the answer's message."""
        self.ensure_message()
        for call in calls:
            self.frames.append(
                call_frames(call.id, call.name, call.arguments, parentMessageId=self.message)
            )
            self.pending.append(call.id)

    def ensure_message(self) -> None:
        """Close the open message. If the answer has no message yet, first write an empty one."""
        if not self.message:
            self.open_message(TEXT)
        self.close_message()

    # --- The end -------------------------------------------------------------------------------

    def finish(self, reason: str) -> None:
        self.close_message()
        self.frames.append(self.stages.end(failed=False))
        waiting = read_question(self.state) if self.asks else None
        if waiting is not None and waiting.asked.kind == "approval":
            self.propose(waiting)
        if any(self.state.values()):
            self.ensure_message()
            self.frames.append(
                frame(
                    "REASONING_ENCRYPTED_VALUE",
                    subtype="message",
                    entityId=self.message,
                    encryptedValue=sealed(self.state),
                )
            )
        outcome: dict[str, Any] = {"type": "success"}
        if waiting is not None:
            outcome = {"type": "interrupt", "interrupts": [write_interrupt(waiting)]}
        elif self.pending and self.protocol is not None:
            # Clients of earlier protocol versions, which send no version, reject unknown keys here.
            outcome["pendingToolCallIds"] = self.pending
        result = {} if reason in ("stop", "tool_calls") else {"result": {"finishReason": reason}}
        self.frames.append(
            frame("RUN_FINISHED", **self.ids, **result, outcome=outcome, **self.written_usage)
        )

    def propose(self, waiting: WaitingCalls) -> None:
        """Write the tool call that is waiting for approval. The next run writes its result."""
        asked = waiting.asked.asked
        arguments = msgspec.json.encode(asked["arguments"]).decode()
        title = {"title": asked["title"]}
        call = call_frames(shown_call(waiting), asked["name"], arguments, metadata=title)
        self.frames.append(call)

    @property
    def written_usage(self) -> dict[str, Any]:
        """Return the `usage` field, or {} if no model reported its usage."""
        usage = write_usage(self.usage)
        return {"usage": usage} if usage else {}
