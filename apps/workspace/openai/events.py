"""Converts the events of a streamed completion to deltas. Thoughts that a model writes between tags
at the beginning of its answer become reasoning.
"""

import re

import msgspec

from apps.agent.events import TextDelta, Usage
from apps.agent.model import Delta, Finish, ReasoningDelta, ToolCallDelta
from apps.agent.surrogates import replace_surrogates
from apps.workspace.openai.chunks import UNNAMED, ChunkReader, TextForm
from apps.workspace.openai.odd_chunks import (
    answer_unread,
    log_unread,
    missed_shape,
    read_odd_chunks,
)
from apps.workspace.openai.wire import StreamChunk
from apps.workspace.services.event_stream import speaks
from apps.workspace.services.failures import failure_in_stream, is_filled
from apps.workspace.services.halves import HalfCharacters, decode_leniently

MOST_SILENT = 16
"""The maximum number of events without content that are stored before they are examined."""
SILENT_BYTES = 4096
"""An event with more bytes than this is examined at once, so that it is not stored."""
TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<thoughts>": "</thoughts>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "◁think▷": "◁/think▷",
}
"""The opening tags, in lower case, that reasoning models write if the service does not parse their
thoughts. Each maps to its closing tag.
"""
MOST_BLANKS = 200
"""The maximum number of blank characters that are buffered because a tag may follow."""

_opening = re.compile("|".join(map(re.escape, TAGS)), re.IGNORECASE)
_closings = {
    tag: re.compile(rf"\s*{re.escape(end)}\s*", re.IGNORECASE) for tag, end in TAGS.items()
}
_beginnings = frozenset(tag[:size] for tag in TAGS for size in range(len(tag) + 1))
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
        self.halves: HalfCharacters | None = None
        """Joins split characters, which only leniently parsed events can contain."""
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
                self.end(deltas)
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

    def end(self, deltas: list[Delta]) -> None:
        self.is_done = True
        if self.halves is not None:
            self.halves.end(deltas)

    def check_content(self, payload: bytes, deltas: list[Delta], known: int) -> None:
        """Examine an event in an answer that has no content yet. Raises `ModelFailed` if the answer
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
        self.halves = self.halves or HalfCharacters()

    def watch(self, deltas: list[Delta], known: int) -> None:
        if self.halves is not None:
            self.halves.join(deltas, known)
        if not self.tags.is_over:
            self.tags.filter(deltas, known)
        if self.tags.is_over and not self.halves:
            self.form, self.is_watching = self.learning, False


def log_foreign(chunk: StreamChunk, payload: bytes) -> None:
    """Log the shape of an event that has neither choices nor token counts."""
    if chunk.usage is None and chunk.statistics is None:
        log_unread("an event", decode_leniently(payload))


class ThinkTags:
    """Converts text between tags at the beginning of an answer to reasoning.

    `is_over` becomes True as soon as the answer itself begins, because later tags are part of the
    answer.
    """

    def __init__(self, tag: str = "") -> None:
        """Create a filter. If the prompt already ends with the opening tag of a thought, `tag` is
        this tag, because the answer begins within the thought. Otherwise, it is "".
        """
        self.is_over = False
        self.is_beginning = bool(tag)
        """True while the model may repeat the opening tag of the prompt."""
        self.tag = tag
        """The opening tag of the current thought, or "" outside of a thought."""
        self.held = ""
        """Buffered text that may be the beginning of a tag."""
        self.thoughts: list[str] = []
        self.has_calls = False

    def filter(self, deltas: list[Delta], start: int) -> None:
        """Replace the deltas from position `start` with deltas that contain thoughts as reasoning."""
        changed: list[Delta] = []
        for delta in deltas[start:]:
            match delta:
                case TextDelta(text) if not self.is_over:
                    changed += self.split(text, delta)
                case ReasoningDelta(text) if text and (self.is_beginning or not self.tag):
                    # The service separates the thoughts itself.
                    self.tag, self.is_beginning = "", False
                    changed += [*self.released(), delta]
                case ToolCallDelta():
                    self.has_calls = True
                    changed += [*self.released(), delta]
                case Finish(reason):
                    changed += [*self.end(reason), delta]
                case _:
                    changed.append(delta)
        deltas[start:] = changed

    def split(self, text: str, delta: TextDelta) -> list[Delta]:
        text, self.held = self.held + text, ""
        found: list[Delta] = []
        while text:
            if not self.tag:
                said = text.lstrip()
                if opened := _opening.match(said):
                    self.tag, text = opened[0].lower(), said[opened.end() :].lstrip()
                elif len(text) <= MOST_BLANKS and may_open(said):
                    self.held = text
                    break
                else:
                    self.is_over = True
                    text = said if self.thoughts else text
                    found.append(TextDelta(text, delta.logprobs))
                    break
            elif self.is_beginning:
                said = text.lstrip()
                if self.tag.startswith(said.lower()):
                    self.held = text
                    break
                self.is_beginning = False
                text = said[len(self.tag) :] if said.lower().startswith(self.tag) else text
            elif closed := _closings[self.tag].search(text):
                found += self.think(text[: closed.start()])
                self.tag, text = "", text[closed.end() :]
                self.thoughts = self.thoughts or [""]
            else:
                keep = kept_end(text, TAGS[self.tag])
                found += self.think(text[: len(text) - keep])
                self.held = text[len(text) - keep :]
                break
        return found

    def think(self, text: str) -> list[Delta]:
        text = text if any(self.thoughts) else text.lstrip()
        if not text:
            return []
        self.thoughts.append(text)
        return [ReasoningDelta(text, UNNAMED)]

    def released(self) -> list[Delta]:
        """Return the deltas for the buffered text, because other content follows."""
        held, self.held = self.held, ""
        if self.tag:
            return self.think(held)
        self.is_over = True
        return [TextDelta(held)] if held and not (self.thoughts and held.isspace()) else []

    def end(self, reason: str) -> list[Delta]:
        """Return the deltas that remain at the end of an answer. A thought without a closing tag
        becomes the answer, unless the finish reason is `length` or the model calls tools.
        """
        if self.is_over:
            return []
        found = self.released()
        if self.tag and not self.has_calls and reason != "length":
            found.append(TextDelta("".join(self.thoughts)))
        self.is_over = True
        return found


def may_open(text: str) -> bool:
    """Return True if more text could make `text` an opening tag."""
    return text.lower() in _beginnings


def kept_end(text: str, closing: str) -> int:
    """Return the number of characters at the end of the text that may belong to the closing tag or
    the blanks before it.
    """
    lowered = text.lower()
    size = min(len(closing) - 1, len(text))
    kept = next((n for n in range(size, 0, -1) if lowered.endswith(closing[:n])), 0)
    rest = text[: len(text) - kept]
    return kept + min(len(rest) - len(rest.rstrip()), MOST_BLANKS)
