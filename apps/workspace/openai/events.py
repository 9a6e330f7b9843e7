"""The events of a streamed completion, read as deltas."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ReasoningDelta
from apps.agent.surrogates import mend
from apps.workspace.openai.chunks import Chunk, ChunkReader
from apps.workspace.services.failures import failure_in_stream
from apps.workspace.services.payloads import read_mended

_decode = msgspec.json.Decoder(Chunk).decode


class CompletionEvents:
    """Reads the events of one answer; the closing `[DONE]` sets `is_done`."""

    def __init__(self) -> None:
        self.reader = ChunkReader()
        self.form: TextForm | None = TextForm()
        """None once learning has failed too often."""
        self.is_done = False
        self.has_finished = False

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Raises `ModelFailed` for an error event and for one that is not understood."""
        if self.form is not None and not name and (delta := self.form.read(payload)):
            deltas.append(delta)
            return
        if payload.strip() == b"[DONE]":
            self.is_done = True
            return
        chunk = read_chunk(payload)
        if chunk.error is not None or name == b"error":
            raise failure_in_stream(mend(payload))
        for choice in chunk.choices:
            if choice.finish_reason:
                self.has_finished = True
        known = len(deltas)
        self.reader.read(chunk, deltas)
        if self.form is not None and not self.form.learn(payload, deltas[known:]):
            self.form = None


def read_chunk(payload: bytes) -> Chunk:
    """Raises `ModelFailed`."""
    try:
        return _decode(payload)
    except (ValueError, RecursionError):
        return read_mended(_decode, Chunk, payload)


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
