"""From bytes to chunks: a decoder of server-sent events that knows what a completion sends."""

from __future__ import annotations

from typing import Any

import msgspec

from apps.agent.model import Chunk
from apps.agent.surrogates import decoded, mend
from apps.errors import ModelFailed
from apps.workspace.openai.failures import failure_in_stream

MOST_EVENT_BYTES = 8 * 1024 * 1024
"""One event may carry an attachment; one that never ends may not fill memory."""


class Event(Chunk, gc=False):
    """A chunk, or the error that a service sends in its place."""

    error: Any = None


_decode = msgspec.json.Decoder(Event).decode


class EventDecoder:
    """Feed it what each read brought; it gives back the chunks that are complete.

    `is_done` is set by the closing `[DONE]`, `has_finished` by a finish reason. `failure` is what
    ended the stream early: chunks that came before it are given back first.
    """

    def __init__(self) -> None:
        self.rest: list[bytes] = []
        self.held = b""
        self.size = 0
        self.is_done = False
        self.has_finished = False
        self.failure: ModelFailed | None = None

    def feed(self, data: bytes) -> list[Chunk]:
        if self.held or b"\r" in data:
            data = unify(self.held + data)
            data, self.held = (data[:-1], b"\r") if data.endswith(b"\r") else (data, b"")
        # What was kept holds no end of an event, so only the seam is looked at again.
        if b"\n\n" not in (self.rest[-1][-1:] + data if self.rest else data):
            self.keep(data)
            return []
        if self.rest:
            data = b"".join([*self.rest, data])
            self.rest.clear()
            self.size = 0
        end = data.rfind(b"\n\n")
        self.keep(data[end + 2 :])
        return self.decode_all(data[:end])

    def end(self) -> list[Chunk]:
        """The body is over: an event without its closing blank line still counts."""
        data = b"".join(self.rest)
        self.rest.clear()
        return self.decode_all(data) if data.strip() and self.failure is None else []

    def keep(self, rest: bytes) -> None:
        if not rest:
            return
        self.size += len(rest)
        if self.size > MOST_EVENT_BYTES:
            self.failure = ModelFailed(
                "The model's service sent an event that is too large.", reason="stream"
            )
            return
        self.rest.append(rest)

    def decode_all(self, data: bytes) -> list[Chunk]:
        chunks: list[Chunk] = []
        for block in data.split(b"\n\n"):
            if block.startswith(b"data: ") and b"\n" not in block:
                payload, name = block[6:], b""
            else:
                payload, name = read_block(block)
            if not payload:
                continue
            try:
                self.decode_one(payload, name, chunks)
            except ModelFailed as failure:
                self.failure = failure
            if self.is_done or self.failure is not None:
                break
        return chunks

    def decode_one(self, payload: bytes, name: bytes, chunks: list[Chunk]) -> None:
        """Raises `ModelFailed` for an error event and for one that is not understood."""
        if payload.strip() == b"[DONE]":
            self.is_done = True
            return
        event = read_event(payload)
        if event.error is not None or name == b"error":
            raise failure_in_stream(mend(payload))
        for choice in event.choices:
            if choice.finish_reason:
                self.has_finished = True
        chunks.append(event)


def unify(data: bytes) -> bytes:
    """Line ends as `\\n`; a `\\r` at the very end stays, because its `\\n` may be still to come."""
    whole, last = (data[:-1], data[-1:]) if data.endswith(b"\r") else (data, b"")
    return whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + last


def read_block(block: bytes) -> tuple[bytes, bytes]:
    """The data lines of an event, joined, and the event's name; comments are skipped."""
    data: list[bytes] = []
    name = b""
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return b"\n".join(data), name


def read_event(payload: bytes) -> Event:
    """Raises `ModelFailed`."""
    try:
        return decoded(_decode, payload)
    except msgspec.ValidationError:
        return read_loosely(payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ModelFailed(
            "The model's service sent an event that is not JSON.", reason="stream"
        ) from error


def read_loosely(payload: bytes) -> Event:
    """Some services write null where a key should be left out. Raises `ModelFailed`."""
    try:
        return msgspec.convert(
            without_nulls(msgspec.json.decode(mend(payload))), Event, strict=False
        )
    except (msgspec.ValidationError, RecursionError) as error:
        raise ModelFailed(
            "The model's service sent an event that is not understood.", reason="stream"
        ) from error


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
