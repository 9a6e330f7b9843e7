"""Defines chores: recurring tasks that apps declare in their configs. Only one worker at a time
runs a chore.
"""

from dataclasses import dataclass
from enum import StrEnum


class Interval(StrEnum):
    """The intervals of chores, as cron expressions in UTC."""

    MINUTE = "* * * * *"
    FIVE_MINUTES = "*/5 * * * *"
    TEN_MINUTES = "*/10 * * * *"
    HOUR = "7 * * * *"
    DAY = "37 3 * * *"


@dataclass(frozen=True, slots=True)
class Chore:
    """A recurring task. `work` is the dotted path of a function that returns the number of changed
    objects, or None. If `is_async` is True, it is a coroutine function. Log messages contain the
    `title`.
    """

    title: str
    work: str
    interval: Interval = Interval.HOUR
    is_async: bool = False
