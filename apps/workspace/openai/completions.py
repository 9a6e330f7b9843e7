"""Completions in one piece, from services that do not stream."""

from typing import Any

import msgspec

from apps.agent.model import Delta, Finish
from apps.agent.surrogates import mend
from apps.errors import ModelFailed
from apps.workspace.openai.chunks import (
    Choice,
    ChoiceDelta,
    Chunk,
    ChunkReader,
    Statistics,
    TokenCounts,
    speaks,
)
from apps.workspace.openai.odd_chunks import answer_unread, missed_shape, read_odd_chunks
from apps.workspace.openai.think_tags import ThinkTags, without_opening_tag
from apps.workspace.services.failures import failure_in_stream, is_filled
from apps.workspace.services.halves import HalfCharacters


class CompletionChoice(msgspec.Struct):
    message: ChoiceDelta
    finish_reason: str | None = None
    logprobs: Any = None
    index: int = 0


class Completion(msgspec.Struct):
    choices: list[CompletionChoice] = []
    usage: TokenCounts | None = None
    statistics: Statistics | None = None
    error: Any = None


def read_completion(data: bytes) -> list[Delta]:
    """Raises `ModelFailed`."""
    chunk = read_whole_chunk(data)
    if is_filled(chunk.error):
        raise failure_in_stream(mend(data))
    for choice in chunk.choices:
        for index, call in enumerate((choice.delta and choice.delta.tool_calls) or ()):
            call.index = index  # only streamed calls are numbered
    deltas: list[Delta] = []
    ChunkReader().read(chunk, deltas)
    if not deltas:
        raise ModelFailed("The model's service sent an empty answer.", reason="unreadable")
    if not speaks(deltas) and Finish("stop") in deltas and (missed := missed_shape(data)):
        raise answer_unread(missed)
    HalfCharacters().join(deltas, 0)
    tags = ThinkTags()
    tags.filter(deltas, 0)
    return [*without_opening_tag(deltas), *tags.end("")]


def read_whole_chunk(data: bytes) -> Chunk:
    """Raises `ModelFailed`."""
    try:
        found = msgspec.json.decode(data, type=Completion)
    except (ValueError, RecursionError):
        return read_odd_chunks(data, takes_messages=True)[0]
    choices = [
        Choice(one.message, one.finish_reason, one.logprobs, one.index) for one in found.choices
    ]
    return Chunk(choices, found.usage, found.statistics, found.error)
