"""Counts the budget changes in this process, so that cached budgets are reloaded immediately."""

from itertools import count

_numbers = count(1)
_newest = 0


def note_change() -> None:
    global _newest
    _newest = next(_numbers)


def newest_change() -> int:
    return _newest
