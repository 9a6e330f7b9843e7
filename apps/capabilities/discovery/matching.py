"""Finding tools by the words of a query: what is left when no model can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from apps.agent.tools import ToolSpec

SHORTEST = 3
"""Characters; shorter words ("a", "to", "of") are in every description."""
STEM = 4
"""Words that begin alike for so long are forms of one word."""
QUERY_WORDS = 50
NAME_WEIGHT = 2

_word = re.compile(r"[^\W_]+")


def match_words(query: str, specs: Iterable[ToolSpec]) -> list[str]:
    """Names of the tools that share words with the query, the best first."""
    wanted = sorted(words(query))[:QUERY_WORDS]
    scores = {spec.name: score(wanted, spec) for spec in specs}
    found = [name for name, points in scores.items() if points]
    return sorted(found, key=lambda name: -scores[name])


def score(wanted: Iterable[str], spec: ToolSpec) -> int:
    name, description = words(spec.name), words(spec.description)
    return sum(
        NAME_WEIGHT * any(alike(word, other) for other in name)
        + any(alike(word, other) for other in description)
        for word in wanted
    )


def words(text: str) -> set[str]:
    return {word for word in _word.findall(text.casefold()) if len(word) >= SHORTEST}


def alike(one: str, other: str) -> bool:
    """Whether the words are the same, or one begins as the other does."""
    shorter = min(len(one), len(other))
    return one == other or (shorter >= STEM and one[:shorter] == other[:shorter])
