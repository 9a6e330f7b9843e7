"""Encodes AG-UI events as bytes of an event stream."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import msgspec

from apps.agent.events import Usage

VERSION = "1.0"
_encode = msgspec.json.Encoder().encode


def new_id() -> str:
    return uuid4().hex


def frame(kind: str, **fields: Any) -> bytes:
    return b"data: %b\n\n" % _encode({"type": kind, **fields})


class TextStream:
    """A message or a reasoning text that is being streamed. The constant part of its frames is
    encoded only once.
    """

    def __init__(self, kind: str, message_id: str) -> None:
        self.kind = kind
        self.id = message_id
        content = {"type": f"{kind}_CONTENT", "messageId": message_id}
        self.head = b'data: %b,"delta":' % _encode(content)[:-1]

    def start(self) -> bytes:
        role = "reasoning" if self.kind.startswith("REASONING") else "assistant"
        return frame(f"{self.kind}_START", messageId=self.id, role=role)

    def delta(self, text: str) -> bytes:
        return b"%b%b}\n\n" % (self.head, _encode(text))

    def end(self) -> bytes:
        return frame(f"{self.kind}_END", messageId=self.id)


def call_frames(call_id: str, name: str, arguments: str, **fields: Any) -> bytes:
    """Return the frames of a tool call. `arguments` is JSON. `fields` are added to the first frame."""
    return b"".join(
        (
            frame("TOOL_CALL_START", toolCallId=call_id, toolCallName=name, **fields),
            frame("TOOL_CALL_ARGS", toolCallId=call_id, delta=arguments or "{}"),
            frame("TOOL_CALL_END", toolCallId=call_id),
        )
    )


def custom(name: str, value: Mapping[str, Any]) -> bytes:
    return frame("CUSTOM", name=f"quickapps.{name}", value=value)


def write_usage(usage: Usage) -> list[dict[str, Any]]:
    """Return the usage as JSON, one entry for each model."""
    found = []
    for one in usage.per_model:
        counts = {
            "inputTokens": one.input,
            "outputTokens": one.output,
            "totalTokens": one.input + one.output,
            "reasoningTokens": one.reasoning,
            "cachedInputTokens": one.cached,
            "cacheWriteInputTokens": one.created,
        }
        known = {name: count for name, count in counts.items() if count is not None}
        found.append({"model": one.model, **known})
    return found
