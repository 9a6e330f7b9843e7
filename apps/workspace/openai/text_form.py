"""The short way for chunks that differ in one text alone, as nearly all of an answer do.

A service repeats everything around the text byte for byte, so once such a chunk was decoded, the
text of the next one is what stands between the same bytes. This is checked and not assumed: the
bytes around are kept only if another text between them is decoded as just that text. It saves
most of the work of decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ReasoningDelta
from apps.workspace.openai.chunks import Chunk, ChunkReader

MOST_ATTEMPTS = 8
"""Of one answer: some services write something new around each text, of which nothing is learned."""
SAMPLE = "sample"


class TextForm:
    """The bytes before and after the text, and what is made of it."""

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
        """What a chunk of this form says, None for any other chunk."""
        if not self.matches(payload):
            return None
        try:
            text = payload[len(self.before) : -len(self.after)].decode()
        except UnicodeDecodeError:
            return None
        return self.make(text) if is_plain(text) else None

    def learn(self, payload: bytes, said: Sequence[Delta]) -> bool:
        """Take over the form of a chunk that was decoded and said this, if it says one text.

        False when that was tried too often.
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
        if says(before + SAMPLE.encode() + after) == [make(SAMPLE)]:
            self.before, self.after, self.make = before, after, make
        return self.attempts < MOST_ATTEMPTS


def is_plain(text: str) -> bool:
    """Whether JSON has the text as it is."""
    return text.isprintable() and '"' not in text and "\\" not in text


def says(payload: bytes) -> list[Delta]:
    deltas: list[Delta] = []
    try:
        ChunkReader().read(msgspec.json.decode(payload, type=Chunk), deltas)
    except msgspec.MsgspecError:
        return []
    return deltas
