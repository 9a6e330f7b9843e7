"""Two texts, line by line, as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import Literal, NamedTuple

MOST_LINES = 5_000
"""Of one difference; more would take minutes, and nobody reads them."""


class Line(NamedTuple):
    kind: Literal["same", "added", "removed", "place"]
    text: str


def line_difference(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Empty if they are the same."""
    if max(len(before), len(after)) > MOST_LINES:
        return [Line("place", f"More than {MOST_LINES} lines: not compared.")]
    found = unified_diff(before, after, lineterm="")
    return [line_of(text) for number, text in enumerate(found) if number > 1]  # two name the files


def line_of(text: str) -> Line:
    if text.startswith("@@"):
        return Line("place", text)
    kinds: dict[str, Literal["added", "removed"]] = {"+": "added", "-": "removed"}
    return Line(kinds.get(text[:1], "same"), text[1:])
