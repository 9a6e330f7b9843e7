"""Defines chores: recurring tasks that apps declare in their configs."""

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
    """A recurring task that only one worker runs at a time."""

    title: str
    """The name in the admin and in log messages."""
    work: str
    """The dotted path of a function that returns the number of changed objects, or None."""
    interval: Interval = Interval.HOUR
    is_async: bool = False
    """True if the function is a coroutine function."""
