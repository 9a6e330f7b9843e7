"""Collects the recurring work that apps declare in their configs. Only one worker at a time runs a
chore.
"""

from dataclasses import dataclass
from enum import StrEnum


class Interval(StrEnum):
    """The interval of a chore, as a cron expression in UTC."""

    MINUTE = "* * * * *"
    FIVE_MINUTES = "*/5 * * * *"
    TEN_MINUTES = "*/10 * * * *"
    HOUR = "7 * * * *"
    DAY = "37 3 * * *"


@dataclass(frozen=True, slots=True)
class Chore:
    """A recurring task. `work` is the dotted path of a function that returns the number of changed
    objects, or None.

    If `is_async` is True, the function is a coroutine function. The log contains the `title`.
    """

    title: str
    work: str
    interval: Interval = Interval.HOUR
    is_async: bool = False
