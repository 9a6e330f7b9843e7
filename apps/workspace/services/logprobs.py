"""Parses the log probabilities that services return."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from apps.agent.events import TokenLogprob


class TokenPart(msgspec.Struct, gc=False):
    token: str
    logprob: float
    bytes: tuple[int, ...] | None = None
    top_logprobs: list["TokenPart"] | None = None


class LogprobsPart(msgspec.Struct, gc=False):
    content: list[TokenPart] | None = None
    refusal: list[TokenPart] | None = None


def read_logprobs(written: Any) -> tuple[TokenLogprob, ...] | None:
    """Return the log probabilities, or None if they are missing or unreadable."""
    try:
        found = msgspec.convert(written, LogprobsPart)
    except msgspec.ValidationError:
        return None
    tokens = (*read(found.content), *read(found.refusal, is_refusal=True))
    return tokens or None


def read(tokens: Iterable[TokenPart] | None, *, is_refusal: bool = False) -> Iterator[TokenLogprob]:
    for one in tokens or ():
        likeliest = tuple(read(one.top_logprobs))
        yield TokenLogprob(one.token, one.logprob, one.bytes, likeliest, is_refusal)
