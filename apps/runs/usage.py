"""What an answer cost, added up."""

from __future__ import annotations

from collections.abc import Iterable

from apps.agent.events import ModelUsage, Usage


def total(spent: Iterable[ModelUsage]) -> Usage:
    """Add up; one entry for each model, in the order in which they first answered."""
    by_model: dict[str, tuple[int, int]] = {}
    for item in spent:
        prompt, completion = by_model.get(item.model, (0, 0))
        by_model[item.model] = (prompt + item.prompt_tokens, completion + item.completion_tokens)
    return Usage(
        sum(prompt for prompt, _ in by_model.values()),
        sum(completion for _, completion in by_model.values()),
        tuple(ModelUsage(model, *tokens) for model, tokens in by_model.items()),
    )
