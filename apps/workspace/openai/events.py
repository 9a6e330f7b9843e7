"""Converts the events of a streamed completion to deltas."""

import sys
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from apps.agent.events import TextDelta, Usage
from apps.agent.model import Delta, Finish, ReasoningDelta
from apps.agent.surrogates import replace_surrogates
from apps.workspace.openai.chunks import ChunkReader, StreamChunk
from apps.workspace.openai.odd_chunks import (
    answer_unread,
    log_unread,
    missed_shape,
    read_odd_chunks,
)
from apps.workspace.openai.think_tags import ThinkTags
from apps.workspace.services.event_stream import speaks
from apps.workspace.services.failures import failure_in_stream, is_filled
from apps.workspace.services.halves import HalfCharacters, decode_leniently

_decode = msgspec.json.Decoder(StreamChunk).decode


class CompletionEvents:
    """Converts the events of one answer to deltas. The final event `[DONE]` sets `is_done`."""

    def __init__(self, opening_tag: str = "") -> None:
        """Create a reader. If the prompt already ends with the opening tag of a thought,
        `opening_tag` is this tag, because the answer begins within the thought. Otherwise, it is
        "".
        """
        self.reader = ChunkReader()
        self.form: TextForm | None = None
        """The template with which chunks are read, or None if no template was found or chunks must
        still be searched for tags.
        """
        self.learning: TextForm | None = TextForm()
        """The template that is being derived from the chunks so far, or None after too many failed
        attempts.
        """
        self.is_watching = True
        """True while the text may begin with tags, or part of a character has not arrived yet."""
        self.tags = ThinkTags(opening_tag)
        self.halves = HalfCharacters()
        self.is_done = False
        self.has_finished = False
        self.has_spoken = False
        self.silent: list[bytes] = []
        """Events without content. Their shapes are examined only if the whole answer has no
        content.
        """
        self.missed = ""
        """The shape of the first delta that could not be read, or "" once the answer has content.
        """

    @property
    def has_understood(self) -> bool:
        return self.reader.index is not None

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Convert an event to deltas. Raises `ModelFailed` if the event is an error or cannot be
        parsed.
        """
        if self.form is not None and not name and (delta := self.form.read(payload)):
            deltas.append(delta)
            return
        known = len(deltas)
        try:
            chunk = _decode(payload)
        except (ValueError, RecursionError):
            if payload.strip() == b"[DONE]":
                self.is_done = True
                self.halves.end(deltas)
                return
            is_plain = False
        else:
            is_plain = self.read_chunk(chunk, payload, name, deltas)
        if not is_plain:
            self.read_odd(payload, name, deltas)
        self.check_content(payload, deltas, known)
        self.has_finished = self.reader.has_finished
        if self.is_watching:
            self.watch(deltas, known)
        if is_plain and self.form is not None and not self.form.learn(payload, deltas[known:]):
            self.form = self.learning = None

    def check_content(self, payload: bytes, deltas: list[Delta], known: int) -> None:
        """Examine an event of an answer that has no content yet. Raises `ModelFailed` if the answer
        ends and its content could not be read.
        """
        if self.has_spoken:
            return
        found = deltas[known:]
        self.has_spoken = speaks(found)
        if self.has_spoken:
            self.silent.clear()
            return
        if not self.missed and all(isinstance(one, (Finish, Usage)) for one in found):
            self.silent.append(payload)
        is_over = Finish("stop") in found
        # Nearly all answers begin with such an event, and then have content.
        if is_over or len(self.silent) >= MOST_SILENT or len(payload) > SILENT_BYTES:
            self.missed = self.missed or next(filter(None, map(missed_shape, self.silent)), "")
            self.silent.clear()
        if self.missed and is_over:
            raise answer_unread(self.missed)

    def read_chunk(
        self, chunk: StreamChunk, payload: bytes, name: bytes, deltas: list[Delta]
    ) -> bool:
        """Convert a chunk to deltas. Return False if the event must be parsed leniently instead.
        Raises `ModelFailed` if the chunk is an error.
        """
        if name == b"error" or (chunk.error is not None and is_filled(chunk.error)):
            raise failure_in_stream(replace_surrogates(payload))
        if not chunk.choices and b'"choices"' not in payload:
            log_foreign(chunk, payload)
        return self.reader.read(chunk, deltas)

    def read_odd(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Parse an event leniently, and convert it to deltas. Raises `ModelFailed` if it is an
        error or cannot be parsed.
        """
        for chunk in read_odd_chunks(payload, takes_messages=not self.has_spoken):
            if is_filled(chunk.error):  # The event may contain several chunks.
                raise failure_in_stream(msgspec.json.encode({"error": chunk.error}))
            if name == b"error":
                raise failure_in_stream(replace_surrogates(payload))
            self.reader.read(chunk, deltas)
        self.form, self.is_watching = None, True

    def watch(self, deltas: list[Delta], known: int) -> None:
        self.halves.join(deltas, known)
        if not self.tags.is_over:
            self.tags.filter(deltas, known)
        if self.tags.is_over and not self.halves:
            self.form, self.is_watching = self.learning, False


def log_foreign(chunk: StreamChunk, payload: bytes) -> None:
    """Log the shape of an event that has neither choices nor token counts."""
    if chunk.usage is None and chunk.statistics is None:
        log_unread("an event", decode_leniently(payload))


MOST_SILENT = 16
"""The maximum number of events without content that are stored before they are examined."""
SILENT_BYTES = 4096
"""The size in bytes from which an event is examined at once, so that it is not stored."""
MOST_ATTEMPTS = 8
"""The maximum number of attempts per answer to derive a template. They all fail if the service
changes the bytes around each text.
"""
SAMPLE = "sample"


class TextForm:
    """A template for chunks that differ only in one text, as nearly all chunks of an answer do.
    Chunks that fit it need no parsing.

    Services repeat everything around the text byte for byte, so the text of the next chunk is
    between the same bytes. A template is used only after a check that another text between these
    bytes is decoded correctly.
    """

    def __init__(self) -> None:
        self.before = b""
        self.after = b""
        self.least = sys.maxsize
        """The size in bytes of the shortest chunk that fits this template."""
        self.make: Callable[[str], Delta] = TextDelta
        self.attempts = 0

    def read(self, payload: bytes) -> Delta | None:
        """Return the delta of a chunk that fits this template, or None for any other chunk."""
        before, after = self.before, self.after
        if not (
            len(payload) >= self.least and payload.startswith(before) and payload.endswith(after)
        ):
            return None
        try:
            text = payload[len(before) : -len(after)].decode()
        except UnicodeDecodeError:
            return None
        return self.make(text) if is_plain(text) else None

    def learn(self, payload: bytes, said: Sequence[Delta]) -> bool:
        """Derive the template from a chunk and its deltas `said`, if they are a single text. Return
        False after too many attempts.
        """
        match said:
            case [TextDelta(text, None)] if text and is_plain(text):
                make: Callable[[str], Delta] = TextDelta
            case [ReasoningDelta(text, name)] if text and is_plain(text):
                make = partial(ReasoningDelta, name=name)
            case _:
                return True
        self.attempts += 1
        before, quoted, after = payload.partition(b'"%b"' % text.encode())
        before, after = before + quoted[:1], quoted[-1:] + after
        if deltas_of(before + SAMPLE.encode() + after) == [make(SAMPLE)]:
            self.before, self.after, self.make = before, after, make
            self.least = len(before) + 1 + len(after)
        return self.attempts < MOST_ATTEMPTS


def is_plain(text: str) -> bool:
    """Return True if JSON represents the text without escapes."""
    return text.isprintable() and '"' not in text and "\\" not in text


def deltas_of(payload: bytes) -> list[Delta]:
    deltas: list[Delta] = []
    try:
        ChunkReader().read(msgspec.json.decode(payload, type=StreamChunk), deltas)
    except msgspec.MsgspecError:
        return []
    return deltas
