"""Decodes the server-sent events of streamed answers into deltas, and converts services' finish
reasons to OpenAI's.
"""

import json
import logging
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from apps.agent.events import AttachmentAdded, RefusalDelta, StateSaved, TextDelta
from apps.agent.model import Delta, ToolCallDelta
from apps.errors import ModelFailed
from apps.process_state import on_reset
from apps.workspace.services.halves import decode_leniently

logger = logging.getLogger(__name__)

MOST_EVENT_BYTES = 8 * 1024 * 1024
"""The size limit for an event in bytes. An event may contain an attachment, but an endless event
must not fill memory.
"""
BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, with which a stream may begin."""
OBJECT = ord("{")
DONE = b"[DONE]"
"""The last event of most streams. It is not JSON, so it is checked before parsing."""
SPOKEN = (TextDelta, RefusalDelta, ToolCallDelta, AttachmentAdded, StateSaved)
"""The types of deltas that count as content of an answer. Reasoning and stages do not count."""

_between_words = re.compile(r"[^a-z]+")
_prefix = re.compile(rb"(?:\xef\xbb\xbf|\s|data:)*+")
"""Matches byte order marks, white space and `data:`, which some services send before an event's
JSON.
"""

KEEP_ALIVES = frozenset(
    {
        b"",
        b"ping",
        b"pong",
        b"keepalive",
        b"heartbeat",
        b"hb",
        b"null",
        b"processing",
        b"true",
        b"ok",
    }
)
"""The texts of keep-alive events, in lower case and without spaces or punctuation."""

FINISH_WORDS = {
    "stop": (
        "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "stop_token", "complete",
        "completed", "done", "finish", "finished", "normal",
    ),
    "length": (
        "length", "max_tokens", "max_token", "max_length", "max_output_tokens", "incomplete",
        "max_completion_tokens", "model_length", "token_limit", "context_window_exceeded",
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_calls", "tool_call", "tool_use", "function_call", "function_calls"),
    "content_filter": (
        "content_filter", "content_filtered", "safety", "recitation", "blocklist", "spii",
        "prohibited_content", "sensitive", "refusal", "blocked", "guardrail_intervened",
    ),
}  # fmt: skip
"""Maps OpenAI's finish reasons to the words that services use for them."""
FAILURE_WORDS = frozenset(
    {
        "abort", "aborted", "engine_error", "error", "failed", "failure", "insufficient_system_resource",
        "internal_error", "network_error", "server_error",
    }
)  # fmt: skip
"""The finish reasons that mean that the service failed and the answer is incomplete."""
REASON_OF_WORD = {word: reason for reason, words in FINISH_WORDS.items() for word in words}
LONGEST_REASON = 40


class EventReader(Protocol):
    """Converts the events of one answer, in the format of one API, to deltas.

    A finish reason sets `has_finished`, the event that closes the stream sets `is_done`, and any
    part of an answer in this API's format sets `has_understood`.
    """

    is_done: bool
    has_finished: bool

    @property
    def has_understood(self) -> bool: ...

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Append the deltas of an event, given its data and its name (b"" if it has none).

        Raises `ModelFailed` if the event is an error or cannot be parsed.
        """
        ...


class EventDecoder:
    """Converts the bytes of each network read to the deltas of the events that it completes."""

    def __init__(self, reader: EventReader, most_bytes: int = MOST_EVENT_BYTES) -> None:
        self.reader = reader
        self.most_bytes = most_bytes
        self.rest: list[bytes] = []
        self.held = b""
        self.size = 0
        self.failure: ModelFailed | None = None
        """The failure that ended the stream early, or None. The deltas before it are returned
        first.
        """
        self.has_events = False

    def feed(self, data: bytes) -> list[Delta]:
        if self.held or b"\r" in data:
            data = unify(self.held + data)
            data, self.held = (data[:-1], b"\r") if data.endswith(b"\r") else (data, b"")
        # The buffered bytes contain no event boundary, so only the last of them is searched again.
        if b"\n\n" not in (self.rest[-1][-1:] + data if self.rest else data):
            self.keep(data)
            return []
        if self.rest:
            data = b"".join([*self.rest, data])
            self.rest.clear()
            self.size = 0
        end = data.rfind(b"\n\n")
        if rest := data[end + 2 :]:
            self.keep(rest)
        return self.decode(data[:end])

    def end(self) -> list[Delta]:
        """Return the remaining deltas at the end of the stream. The last event is read even if the
        blank line after it is missing.
        """
        data = b"".join(self.rest)
        self.rest.clear()
        return self.decode(data) if data.strip() and self.failure is None else []

    def keep(self, rest: bytes) -> None:
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
            try:
                if payload[0] == OBJECT or payload == DONE:
                    self.has_events = True
                    reader.read(payload, name, deltas)
                else:
                    self.read_odd(payload, name, deltas)
            except ModelFailed as failure:
                self.failure = failure
                break
            if reader.is_done:
                break
        return deltas

    def read_odd(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Append the deltas of an event that is a list of events or a keep-alive. Keep-alives are
        skipped. Raises `ModelFailed` if the event is an error or cannot be parsed.
        """
        for event in events_in(payload):
            has_begun = name == b"error" or self.reader.has_understood
            if is_skipped(event, has_begun=has_begun):
                continue
            self.has_events = True
            self.reader.read(event, name, deltas)
            if self.reader.is_done:
                return


def speaks(deltas: Iterable[Delta]) -> bool:
    """Return True if the deltas contain content of the answer. Reasoning and stages do not count."""
    return any(
        isinstance(one, SPOKEN) and not (isinstance(one, TextDelta) and not one.text)
        for one in deltas
    )


def unify(data: bytes) -> bytes:
    """Return the data with line feeds as its only line endings. A carriage return at the end
    remains, because its line feed may be in the next chunk.
    """
    whole, last = (data[:-1], data[-1:]) if data.endswith(b"\r") else (data, b"")
    return whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + last


def read_block(block: bytes) -> tuple[bytes, bytes]:
    """Return the joined data lines of an event, and the event's name. Comments are skipped."""
    if block.startswith(b"event: "):
        first, _, second = block.partition(b"\n")
        # APIs with named events send them in this form.
        if second.startswith(b"data: ") and b"\n" not in second:
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


def events_in(payload: bytes) -> list[bytes]:
    """Return the events in the data of an event: the members of a list, the lines of events without
    blank lines between them, or the event itself.
    """
    payload = _prefix.sub(b"", payload, count=1)
    try:
        found = decode_leniently(payload)
    except (ValueError, RecursionError):
        lines = [line for line in payload.split(b"\n") if line.strip()]
        return [payload] if len(lines) < 2 else [one for line in lines for one in events_in(line)]
    if isinstance(found, list):
        return [
            item.encode(errors="replace") if isinstance(item, str) else json.dumps(item).encode()
            for item in found
        ]
    return [found.encode(errors="replace")] if isinstance(found, str) else [payload]


def is_skipped(event: bytes, *, has_begun: bool) -> bool:
    """Return True if an event is a keep-alive. Before the answer has begun, any text counts as a
    keep-alive.
    """
    if b"{" in event or b"[" in event:
        return False
    if is_keep_alive(event):
        return True
    if not has_begun:
        log_skipped(len(event))
    return not has_begun


def is_keep_alive(event: bytes) -> bool:
    return event.strip(b' \t\n":.!').lower().translate(None, b"-_ ") in KEEP_ALIVES


@lru_cache(maxsize=256)  # A process logs each length once.
def log_skipped(length: int) -> None:
    logger.warning(
        "Skipped an event of %d bytes from a model service: it is not a JSON object.",
        length,
    )


on_reset(log_skipped.cache_clear)


def finish_reason(written: str) -> str:
    """Convert a service's finish reason to OpenAI's. An unknown reason becomes `stop`.

    Raises `ModelFailed` for a reason that means a failure.
    """
    if written in FINISH_WORDS:
        return written
    words = _between_words.sub("_", written[:LONGEST_REASON].lower())
    word = words.strip("_").removeprefix("finish_reason_")
    if word in FAILURE_WORDS:
        raise ModelFailed(
            f"The model's service ended the response with the finish reason {word}.",
            reason="stream",
        )
    found = REASON_OF_WORD.get(word)
    if found is None:
        log_unknown_reason(word)
    return found or "stop"


@lru_cache(maxsize=100)  # A process logs each reason once.
def log_unknown_reason(word: str) -> None:
    logger.warning("A model's service ended a response with an unknown finish reason: %s", word)


on_reset(log_unknown_reason.cache_clear)
