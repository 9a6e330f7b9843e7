"""Defines chores: recurring tasks that apps declare in their configs."""

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings


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

    action: str
    """The task in the imperative, such as "Delete audit events"."""
    work: str
    """The dotted path of a function that returns the number of changed objects, or None."""
    interval: Interval = Interval.HOUR
    is_async: bool = False
    """True if the function is a coroutine function."""
    days: str = ""
    """The name of the setting with the number of days after which the task deletes objects, or ""."""

    @property
    def title(self) -> str:
        """Return the name in the admin and in log messages, such as "Delete audit events after 365
        days".
        """
        if not self.days:
            return self.action
        days: int = getattr(settings, self.days)
        if not days:
            return f"{self.action}: never"
        return f"{self.action} after {days} day{'' if days == 1 else 's'}"
