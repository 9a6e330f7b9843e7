"""Completions in one piece, from services that do not stream."""

from functools import partial
from typing import Any

import msgspec

from apps.agent.model import Delta
from apps.agent.surrogates import decode_json, mend
from apps.errors import ModelFailed
from apps.workspace.openai.chunks import (
    Choice,
    ChoiceDelta,
    Chunk,
    ChunkReader,
    Statistics,
    TokenCounts,
)
from apps.workspace.services.failures import failure_in_stream


class CompletionChoice(msgspec.Struct):
    message: ChoiceDelta
    finish_reason: str | None = None
    logprobs: Any = None


class Completion(msgspec.Struct):
    choices: list[CompletionChoice] = []
    usage: TokenCounts | None = None
    statistics: Statistics | None = None
    error: Any = None


def read_completion(data: bytes) -> list[Delta]:
    """Raises `ModelFailed`."""
    try:
        completion = decode_json(partial(msgspec.json.decode, type=Completion), data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ModelFailed(
            "The model's service sent an answer that is not understood.", reason="stream"
        ) from error
    if completion.error is not None:
        raise failure_in_stream(mend(data))
    if not completion.choices:
        raise ModelFailed("The model's service sent an empty answer.", reason="stream")
    for answer in completion.choices:
        for index, call in enumerate(answer.message.tool_calls or ()):
            call.index = index  # only streamed calls are numbered
    choices = [Choice(one.message, one.finish_reason, one.logprobs) for one in completion.choices]
    deltas: list[Delta] = []
    ChunkReader().read(Chunk(choices, completion.usage, completion.statistics), deltas)
    return deltas
