"""Converts simple repetitions, such as every weekday, to and from cron expressions."""

from dataclasses import dataclass
from datetime import time
from typing import Literal

from apps.schedules.cron import cron_problem, read_cron

Rhythm = Literal["daily", "weekdays", "weekly", "monthly"]
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
LAST = "L"
"""The last day of a month in a cron expression."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition that the form offers without a cron expression."""

    rhythm: Rhythm
    time: time
    days: tuple[str, ...] = ()
    """The weekdays on which a weekly repetition runs, by their names in `DAYS`."""
    day: str = ""
    """The day of the month on which a monthly repetition runs, or `LAST`."""

    @property
    def expression(self) -> str:
        day = self.day if self.rhythm == "monthly" else "*"
        match self.rhythm:
            case "weekdays":
                days = "MON-FRI"
            case "weekly":
                days = ",".join(one for one in DAYS if one in self.days)
            case _:
                days = "*"
        return f"{self.time.minute} {self.time.hour} {day} * {days}"


def read_repeat(expression: str) -> Repeat | None:
    """Parse a cron expression, or return None if it is invalid or not a simple repetition."""
    if cron_problem(expression):
        return None
    cron = read_cron(expression)
    if len(cron.minutes) != 1 or cron.months or cron.counted_weekdays:
        return None
    at = time(*divmod(cron.minutes[0], 60))
    match cron.days, cron.weekdays:
        case (), ():
            return Repeat("daily", at)
        case (), (0, 1, 2, 3, 4):
            return Repeat("weekdays", at)
        case (), weekdays:
            return Repeat("weekly", at, days=tuple(DAYS[one] for one in weekdays))
        case (-1,), ():
            return Repeat("monthly", at, day=LAST)
        case (day,), () if day > 0:
            return Repeat("monthly", at, day=str(day))
    return None
