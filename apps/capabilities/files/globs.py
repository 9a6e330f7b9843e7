"""Patterns for paths: `*` and `?` within a part of a path, `**` for any number of parts.

Nothing is tried twice, so a pattern that means harm takes no longer than any other.
"""

from __future__ import annotations

from collections.abc import Sequence


def matches(path: str, pattern: str) -> bool:
    """A pattern without a slash is about the name alone, wherever the file is."""
    parts = path.split("/")
    if "/" not in pattern and pattern != "**":
        return fits(parts[-1], pattern)
    return fits_path(parts, pattern.split("/"))


def fits_path(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    reached = {0}
    """How many parts the patterns so far may have taken."""
    for pattern in patterns:
        if pattern == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(parts) and fits(parts[n], pattern)}
        if not reached:
            return False
    return len(parts) in reached


def fits(name: str, pattern: str) -> bool:
    """Goes back to the last star alone, which is enough."""
    at, star, since, position = 0, -1, 0, 0
    while position < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, since = at, position
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[position]):
            at, position = at + 1, position + 1
        elif star >= 0:
            since += 1
            at, position = star + 1, since
        else:
            return False
    return not pattern[at:].strip("*")
