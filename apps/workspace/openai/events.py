"""The events of a streamed completion, read as deltas."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from apps.agent.events import TextDelta, Usage
from apps.agent.model import Delta, Finish, ReasoningDelta
from apps.agent.surrogates import mend
from apps.workspace.openai.chunks import Chunk, ChunkReader, speaks
from apps.workspace.openai.odd_chunks import (
    answer_unread,
    log_unread,
    missed_shape,
    read_odd_chunks,
)
from apps.workspace.openai.think_tags import ThinkTags
from apps.workspace.services.failures import failure_in_stream, is_filled
from apps.workspace.services.halves import HalfCharacters, decode_leniently

_decode = msgspec.json.Decoder(Chunk).decode


class CompletionEvents:
    """Reads the events of one answer; the closing `[DONE]` sets `is_done`."""

    def __init__(self) -> None:
        self.reader = ChunkReader()
        self.form: TextForm | None = None
        """The short cut, while there is nothing to watch for."""
        self.learning: TextForm | None = TextForm()
        """None once learning has failed too often."""
        self.is_watching = True
        """For tags at the beginning of the text, or for the rest of a character."""
        self.tags = ThinkTags()
        self.halves = HalfCharacters()
        self.is_done = False
        self.has_finished = False
        self.has_spoken = False
        self.missed = ""
        """The shape of the first event whose delta is not understood, while nothing is said."""

    @property
    def has_understood(self) -> bool:
        return self.reader.index is not None

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Raises `ModelFailed` for an error event and for one that is not understood."""
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
        self.look_for_words(payload, deltas, known)
        self.has_finished = self.reader.has_finished
        if self.is_watching:
            self.watch(deltas, known)
        if is_plain and self.form is not None and not self.form.learn(payload, deltas[known:]):
            self.form = self.learning = None

    def look_for_words(self, payload: bytes, deltas: list[Delta], known: int) -> None:
        """Raises `ModelFailed` at the end of an answer of which nothing was understood."""
        if self.has_spoken:
            return
        found = deltas[known:]
        self.has_spoken = speaks(found)
        if not self.missed and all(isinstance(one, (Finish, Usage)) for one in found):
            self.missed = missed_shape(payload)
        if self.missed and not self.has_spoken and Finish("stop") in found:
            raise answer_unread(self.missed)

    def read_chunk(self, chunk: Chunk, payload: bytes, name: bytes, deltas: list[Delta]) -> bool:
        """False for a chunk that is to be read leniently. Raises `ModelFailed`."""
        if is_filled(chunk.error) or name == b"error":
            raise failure_in_stream(mend(payload))
        if not chunk.choices and b'"choices"' not in payload:
            log_foreign(chunk, payload)
        return self.reader.read(chunk, deltas)

    def read_odd(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Raises `ModelFailed`."""
        for chunk in read_odd_chunks(payload, takes_messages=not self.has_spoken):
            if is_filled(chunk.error):  # of several in the event
                raise failure_in_stream(msgspec.json.encode({"error": chunk.error}))
            if name == b"error":
                raise failure_in_stream(mend(payload))
            self.reader.read(chunk, deltas)
        self.form, self.is_watching = None, True

    def watch(self, deltas: list[Delta], known: int) -> None:
        self.halves.join(deltas, known)
        if not self.tags.is_over:
            self.tags.filter(deltas, known)
        if self.tags.is_over and not self.halves:
            self.form, self.is_watching = self.learning, False


def log_foreign(chunk: Chunk, payload: bytes) -> None:
    """Log the shape of an event that has nothing of this API."""
    if chunk.usage is None and chunk.statistics is None:
        log_unread("an event", decode_leniently(payload))


MOST_ATTEMPTS = 8
"""Per answer: some services write something new around each text."""
SAMPLE = "sample"


class TextForm:
    """A short cut for chunks that differ in one text alone, as nearly all of an answer do.

    Services repeat everything around the text byte for byte, so the text of the next chunk stands
    between the same bytes. The bytes are kept only after a check that another text between them
    is decoded as just that text.
    """

    def __init__(self) -> None:
        self.before = b""
        self.after = b""
        self.make: Callable[[str], Delta] = TextDelta
        self.attempts = 0

    def matches(self, payload: bytes) -> bool:
        return (
            bool(self.before)
            and payload.startswith(self.before)
            and payload.endswith(self.after)
            and len(payload) > len(self.before) + len(self.after)
        )

    def read(self, payload: bytes) -> Delta | None:
        """The delta of a chunk of this form, None for any other chunk."""
        if not self.matches(payload):
            return None
        try:
            text = payload[len(self.before) : -len(self.after)].decode()
        except UnicodeDecodeError:
            return None
        return self.make(text) if is_plain(text) else None

    def learn(self, payload: bytes, said: Sequence[Delta]) -> bool:
        """Learn the form of a decoded chunk if its only delta is a text.

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
        return self.attempts < MOST_ATTEMPTS


def is_plain(text: str) -> bool:
    """Whether JSON writes the text without escapes."""
    return text.isprintable() and '"' not in text and "\\" not in text


def deltas_of(payload: bytes) -> list[Delta]:
    deltas: list[Delta] = []
    try:
        ChunkReader().read(msgspec.json.decode(payload, type=Chunk), deltas)
    except msgspec.MsgspecError:
        return []
    return deltas
