"""What an answer cost, added up."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from apps.agent.events import ModelUsage, Usage


def total(spent: Iterable[ModelUsage]) -> Usage:
    """Add up; one entry for each model, in the order in which they first answered."""
    by_model: dict[str, ModelUsage] = {}
    for item in spent:
        known = by_model.get(item.model)
        by_model[item.model] = item if known is None else added(known, item)
    per_model = tuple(by_model.values())
    whole = reduce(added, per_model, ModelUsage("", 0, 0))
    return Usage(whole.input, whole.output, per_model, whole.cached, whole.created, whole.reasoning)


def added(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    return ModelUsage(
        one.model,
        one.input + other.input,
        one.output + other.output,
        counted(one.cached, other.cached),
        counted(one.created, other.created),
        counted(one.reasoning, other.reasoning),
    )


def counted(one: int | None, other: int | None) -> int | None:
    """The sum of what was told; None if nothing was."""
    told = [count for count in (one, other) if count is not None]
    return sum(told) if told else None
