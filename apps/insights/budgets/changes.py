"""Numbers the changes to budgets in this process, so that it reloads cached budgets immediately."""

from itertools import count

_numbers = count(1)
_newest = 0


def note_change() -> None:
    global _newest
    _newest = next(_numbers)


def newest_change() -> int:
    return _newest
