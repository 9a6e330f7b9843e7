"""Defines the token counts of the Messages API, and converts them to `Usage`."""

from typing import Any, Self

import msgspec

from apps.agent.events import Usage


class MessageTokens(msgspec.Struct):
    """The token counts for a message so far. `input_tokens` excludes tokens that were read from or
    written to the cache.
    """

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: Any = None

    def over(self, earlier: Self | None) -> "MessageTokens":
        """Return these counts, with each missing count taken from `earlier`, because the end of a
        stream contains fewer counts than its beginning.
        """
        if earlier is None:
            return self
        return MessageTokens(
            *(
                getattr(earlier if getattr(self, name) is None else self, name)
                for name in self.__struct_fields__
            )
        )


def read_usage(counts: MessageTokens | None) -> Usage | None:
    if counts is None:
        return None
    cached, created = counts.cache_read_input_tokens, counts.cache_creation_input_tokens
    details = counts.output_tokens_details
    reasoning = details.get("thinking_tokens") if isinstance(details, dict) else None
    return Usage(
        (counts.input_tokens or 0) + (cached or 0) + (created or 0),
        counts.output_tokens or 0,
        cached=cached,
        created=created,
        reasoning=reasoning if type(reasoning) is int else None,
    )


def sum_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return Usage(
        one.input + other.input,
        one.output + other.output,
        cached=sum_counts(one.cached, other.cached),
        created=sum_counts(one.created, other.created),
        reasoning=sum_counts(one.reasoning, other.reasoning),
    )


def sum_counts(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
