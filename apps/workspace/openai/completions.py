"""Converts completions from services that do not stream."""

import re
from typing import Any

import msgspec

from apps.agent.events import TextDelta
from apps.agent.model import Delta, Finish, ReasoningDelta
from apps.agent.surrogates import replace_surrogates
from apps.workspace.openai.chunks import UNNAMED, ChunkReader
from apps.workspace.openai.events import ThinkTags
from apps.workspace.openai.odd_chunks import answer_unread, missed_shape, read_odd_chunks
from apps.workspace.openai.wire import (
    ChoiceDelta,
    ChunkChoice,
    Statistics,
    StreamChunk,
    TokenCounts,
)
from apps.workspace.services.event_stream import speaks
from apps.workspace.services.failures import (
    failure_in_stream,
    failure_of_empty_answer,
    is_filled,
)
from apps.workspace.services.halves import HalfCharacters

_closing_tag = re.compile(r"\s*</think(?:ing)?>\s*", re.IGNORECASE)


class CompletionChoice(msgspec.Struct):
    message: ChoiceDelta
    finish_reason: str | None = None
    logprobs: Any = None
    index: int = 0


class ServiceCompletion(msgspec.Struct):
    choices: list[CompletionChoice] = []
    usage: TokenCounts | None = None
    statistics: Statistics | None = None
    error: Any = None


def read_completion(data: bytes) -> list[Delta]:
    """Convert a completion to deltas. Raises `ModelFailed` if it is an error or cannot be
    parsed.
    """
    chunk = read_whole_chunk(data)
    if is_filled(chunk.error):
        raise failure_in_stream(replace_surrogates(data))
    for choice in chunk.choices:
        for index, call in enumerate((choice.delta and choice.delta.tool_calls) or ()):
            call.index = index  # Only streamed calls have numbers.
    deltas: list[Delta] = []
    reader = ChunkReader()
    reader.read(chunk, deltas)
    if not speaks(deltas):
        if not reader.has_finished:
            raise failure_of_empty_answer()
        if Finish("stop") in deltas and (missed := missed_shape(data)):
            raise answer_unread(missed)
    HalfCharacters().join(deltas, 0)
    tags = ThinkTags()
    tags.filter(deltas, 0)
    return [*without_opening_tag(deltas), *tags.end("")]


def read_whole_chunk(data: bytes) -> StreamChunk:
    """Convert a completion to one chunk. Raises `ModelFailed` if it cannot be parsed."""
    try:
        found = msgspec.json.decode(data, type=ServiceCompletion)
    except (ValueError, RecursionError):
        return read_odd_chunks(data, takes_messages=True)[0]
    choices = [
        ChunkChoice(one.message, one.finish_reason, one.logprobs, one.index)
        for one in found.choices
    ]
    return StreamChunk(choices, found.usage, found.statistics, found.error)


def without_opening_tag(deltas: list[Delta]) -> list[Delta]:
    """Return the deltas of a whole answer. If the prompt contained the opening tag of a thought,
    the text before the closing tag becomes reasoning.
    """
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    closed = _closing_tag.search(said)
    if closed is None or "<think" in said.lower():
        return deltas
    thought, text = said[: closed.start()].strip(), said[closed.end() :]
    rest = [delta for delta in deltas if not isinstance(delta, TextDelta)]
    begun: list[Delta] = [ReasoningDelta(thought, UNNAMED)] if thought else []
    return [*begun, TextDelta(text), *rest]
