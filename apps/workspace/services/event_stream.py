"""Decoder of streamed answers: from the bytes of server-sent events to deltas."""

from typing import Protocol

from apps.agent.model import Delta
from apps.errors import ModelFailed

MOST_EVENT_BYTES = 8 * 1024 * 1024
"""One event may carry an attachment, but an endless one must not fill memory."""
BOM = b"\xef\xbb\xbf"
"""May begin a stream."""


class EventReader(Protocol):
    """What the events of one answer mean in one API.

    `has_finished` is set by a finish reason, `is_done` by the event that closes the stream, and
    `has_understood` by a piece of an answer in this API.
    """

    is_done: bool
    has_finished: bool

    @property
    def has_understood(self) -> bool: ...

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Append the deltas of an event: its data and its name, b"" for none.

        Raises `ModelFailed` for an error event and for one that is not understood.
        """
        ...


class EventDecoder:
    """Takes the bytes of each read and returns the deltas of the events that are complete.

    `failure` ends the stream early; deltas before it are returned first.
    """

    def __init__(self, reader: EventReader, most_bytes: int = MOST_EVENT_BYTES) -> None:
        """`most_bytes` limit one event."""
        self.reader = reader
        self.most_bytes = most_bytes
        self.rest: list[bytes] = []
        self.held = b""
        self.size = 0
        self.failure: ModelFailed | None = None
        self.has_events = False

    def feed(self, data: bytes) -> list[Delta]:
        if self.held or b"\r" in data:
            data = unify(self.held + data)
            data, self.held = (data[:-1], b"\r") if data.endswith(b"\r") else (data, b"")
        # The kept bytes hold no end of an event, so only the seam has to be searched.
        if b"\n\n" not in (self.rest[-1][-1:] + data if self.rest else data):
            self.keep(data)
            return []
        if self.rest:
            data = b"".join([*self.rest, data])
            self.rest.clear()
            self.size = 0
        end = data.rfind(b"\n\n")
        self.keep(data[end + 2 :])
        return self.decode(data[:end])

    def end(self) -> list[Delta]:
        """The body is over: an event without its closing blank line still counts."""
        data = b"".join(self.rest)
        self.rest.clear()
        return self.decode(data) if data.strip() and self.failure is None else []

    def keep(self, rest: bytes) -> None:
        if not rest:
            return
        self.size += len(rest)
        if self.size > self.most_bytes:
            self.failure = ModelFailed(
                "The model's service sent an event that is too large.", reason="unreadable"
            )
            return
        self.rest.append(rest)

    def decode(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        reader = self.reader
        for block in data.split(b"\n\n"):
            if block.startswith(b"data: ") and b"\n" not in block:
                payload, name = block[6:], b""
            else:
                payload, name = read_block(block)
            if not payload:
                continue
            self.has_events = True
            try:
                reader.read(payload, name, deltas)
            except ModelFailed as failure:
                self.failure = failure
                break
            if reader.is_done:
                break
        return deltas


def unify(data: bytes) -> bytes:
    """Line ends as `\\n`; a final `\\r` stays, because its `\\n` may be still to come."""
    whole, last = (data[:-1], data[-1:]) if data.endswith(b"\r") else (data, b"")
    return whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + last


def read_block(block: bytes) -> tuple[bytes, bytes]:
    """The data lines of an event, joined, and the event's name; comments are skipped."""
    if block.startswith(b"event: "):
        first, _, second = block.partition(b"\n")
        if second.startswith(b"data: ") and b"\n" not in second:  # as APIs with named events write
            return second[6:], first[7:]
    data: list[bytes] = []
    name = b""
    for line in block.removeprefix(BOM).split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return b"\n".join(data), name
