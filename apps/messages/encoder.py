"""Encodes a run as a message in the format of Anthropic's Messages API: a stream of events or one
object.
"""

import random
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import msgspec

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
from apps.doors.consumer import EVENT_STREAM, JSON
from apps.doors.sealed_state import sealed
from apps.messages.content import signature

PING = b'event: ping\ndata: {"type": "ping"}\n\n'
TEXT, THINKING = "text", "thinking"
REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
"""Maps the finish reasons of runs to the stop reasons of the Messages API."""
Block = dict[str, Any]

_encode = msgspec.json.Encoder().encode


def frame(event: str, **fields: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.encode(), _encode({"type": event, **fields}))


def write_usage(usage: Usage) -> dict[str, Any]:
    """Return the token counts in the format of the Messages API, whose input count excludes cached
    tokens.
    """
    cached, created = usage.cached or 0, usage.created or 0
    return {
        "input_tokens": max(usage.input - cached - created, 0),
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output,
        "output_tokens_details": None
        if usage.reasoning is None
        else {"thinking_tokens": usage.reasoning},
        "server_tool_use": None,
    }


class MessageEncoder:
    """Encodes the events of a run as server-sent events. Clients that do not request thinking
    receive neither the model's reasoning nor the tools' state.
    """

    headers = EVENT_STREAM
    heartbeat = PING
    sends_end_separately = False

    def __init__(self, model: str, *, shows_thinking: bool) -> None:
        self.id = f"msg_{random.getrandbits(128):032x}"
        self.model = model
        self.shows_thinking = shows_thinking
        self.frames: list[bytes] = []
        self.content: list[Block] = []
        self.block: Block | None = None
        self.deltas: list[str] = []
        self.before = b""
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()
        self.reason = ""

    # --- Encoder -------------------------------------------------------------------------------

    def opening(self) -> bytes:
        return frame("message_start", message=self.message([], None))

    def encode(self, events: Iterable[Event]) -> bytes:
        for event in events:
            self.write(event)
        frames = b"".join(self.frames)
        self.frames.clear()
        return frames

    def error(self, body: Mapping[str, Any]) -> bytes:
        return b"event: error\ndata: %b\n\n" % _encode(body)

    def end(self) -> bytes:
        return b""

    # --- Events --------------------------------------------------------------------------------

    def write(self, event: Event) -> None:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.text(text)
            case StageOpened(is_reasoning=True):
                self.close_block()
            case Reasoning(_, text):
                self.think(text)
            case AttachmentAdded() | AnnotationAdded():
                pass  # Citations refer to documents in the request.
            case ToolCallsRequested(calls):
                for call in calls:
                    self.call(call)
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

    def text(self, text: str) -> None:
        if self.block is None or self.block["type"] != TEXT:
            self.open_block({"type": TEXT, "text": "", "citations": None}, "text_delta", "text")
        self.add_delta(text)

    def think(self, text: str) -> None:
        if not self.shows_thinking:
            return
        if self.block is None or self.block["type"] != THINKING:
            thinking = {"type": THINKING, "thinking": "", "signature": ""}
            self.open_block(thinking, "thinking_delta", "thinking")
        self.add_delta(text)

    def call(self, call: ToolCall) -> None:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        self.open_block({**block, "caller": {"type": "direct"}}, "input_json_delta", "partial_json")
        self.add_delta(call.arguments)

    def finish(self, reason: str) -> None:
        self.close_block()
        if self.state and self.shows_thinking:
            self.open_block({"type": "redacted_thinking", "data": sealed(self.state)}, "", "")
            self.close_block()
        self.reason = REASONS.get(reason, "end_turn")
        usage = write_usage(self.usage)
        self.frames.append(frame("message_delta", delta=ending(self.reason), usage=usage))
        self.frames.append(frame("message_stop"))

    # --- Blocks --------------------------------------------------------------------------------

    def open_block(self, block: Block, delta: str, field: str) -> None:
        """Begin a content block. Its text follows in deltas of the type `delta`, under the key
        `field`.
        """
        self.close_block()
        index = len(self.content)
        self.block = block
        self.frames.append(frame("content_block_start", index=index, content_block=block))
        head = _encode({"type": "content_block_delta", "index": index})[:-1]
        self.before = b'event: content_block_delta\ndata: %b,"delta":{"type":"%b","%b":' % (
            head,
            delta.encode(),
            field.encode(),
        )

    def add_delta(self, text: str) -> None:
        self.deltas.append(text)
        self.frames.append(b"%b%b}}\n\n" % (self.before, _encode(text)))

    def close_block(self) -> None:
        block = self.block
        if block is None:
            return
        whole = "".join(self.deltas)
        if block["type"] == TEXT:
            block["text"] = whole
        elif block["type"] == THINKING:
            block |= {"thinking": whole, "signature": signature(whole)}
            self.sign(block["signature"])
        elif block["type"] == "tool_use":
            block["input"] = msgspec.json.decode(whole)
        self.frames.append(frame("content_block_stop", index=len(self.content)))
        self.content.append(block)
        self.block = None
        self.deltas.clear()

    def sign(self, proof: str) -> None:
        delta = {"type": "signature_delta", "signature": proof}
        self.frames.append(frame("content_block_delta", index=len(self.content), delta=delta))

    def message(self, content: list[Block], reason: str | None) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            **ending(reason),
            "usage": {
                **write_usage(self.usage),
                "cache_creation": None,
                "inference_geo": None,
                "service_tier": "standard",
            },
        }


def ending(reason: str | None) -> dict[str, Any]:
    return {"stop_reason": reason, "stop_sequence": None, "stop_details": None, "container": None}


class WholeMessageEncoder:
    """Encodes the events of a run as one complete message."""

    headers = JSON

    def __init__(self, model: str, *, shows_thinking: bool) -> None:
        self.encoder = MessageEncoder(model, shows_thinking=shows_thinking)

    def feed(self, events: Iterable[Event]) -> None:
        self.encoder.encode(events)

    def body(self) -> bytes:
        return _encode(self.encoder.message(self.encoder.content, self.encoder.reason))
