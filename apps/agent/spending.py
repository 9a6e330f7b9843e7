"""What an answer cost, as its service told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.agent.events import ModelUsage
from apps.agent.model import NamedUsage, Statistics, TokenUsage

MOST_TOKENS = 10**12
"""A number beyond this is no count, and databases would refuse it."""


def spent(
    deployment: str, usage: TokenUsage | None, statistics: Statistics | None
) -> tuple[ModelUsage, ...]:
    """By model where that was told, else as one; () when nothing was."""
    named = statistics.usage_per_model if statistics is not None else None
    whole = () if usage is None else (usage_of(deployment, usage),)
    if not named:
        return whole
    items = [usage_of(item.model or deployment, item) for item in named]
    if whole and all(item.cached_tokens is item.reasoning_tokens is None for item in items):
        # DIAL's statistics have no details, so those of the whole count with the first model.
        cached, reasoning = whole[0].cached_tokens, whole[0].reasoning_tokens
        items[0] = replace(items[0], cached_tokens=cached, reasoning_tokens=reasoning)
    return tuple(items)


def usage_of(model: str, told: TokenUsage | NamedUsage) -> ModelUsage:
    return ModelUsage(
        model,
        told.prompt_tokens,
        told.completion_tokens,
        count_in(told.prompt_tokens_details, "cached_tokens"),
        count_in(told.completion_tokens_details, "reasoning_tokens"),
    )


def count_in(details: Any, name: str) -> int | None:
    """A number of tokens among the details of a usage; None for whatever else stands there."""
    found = details.get(name) if isinstance(details, Mapping) else None
    return found if type(found) is int and 0 <= found <= MOST_TOKENS else None
