"""Two texts and where they differ, line by line."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Literal, NamedTuple

MOST_LINES = 5_000
"""Of one difference; more would take minutes, and nobody reads them."""

LineKind = Literal["same", "added", "removed", "place"]
KINDS: Mapping[str, LineKind] = {"+": "added", "-": "removed", " ": "same", "@": "place"}


class Line(NamedTuple):
    kind: LineKind
    text: str


def line_difference(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """The lines of a unified diff; empty if the texts are the same."""
    if max(len(before), len(after)) > MOST_LINES:
        return [Line("place", f"More than {MOST_LINES} lines: not compared.")]
    found = list(unified_diff(before, after, lineterm=""))
    return [line_of(text) for text in found[2:]]  # the first two name the files


def line_of(text: str) -> Line:
    kind = KINDS[text[0]]
    return Line(kind, text if kind == "place" else text[1:])
