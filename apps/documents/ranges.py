"""Which pages are wanted."""

from __future__ import annotations

from typing import Any

from apps.documents.problems import Unreadable


def chosen(order: dict[str, Any], count: int, noun: str) -> range:
    """Numbers from 1; the order is told how many there are in all.

    Raises `Unreadable` when none of those that are wanted is there.
    """
    order["total"] = count
    if not order["pages"]:
        return range(1, count + 1)
    first, after = order["pages"]
    found = range(max(first, 1), min(after, count + 1))
    if not found:
        raise Unreadable(f"it has {count:,} {noun}s.")
    return found
