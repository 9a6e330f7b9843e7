"""Converts simple repetitions, such as every weekday, to and from cron expressions."""

import re
from dataclasses import dataclass
from datetime import time
from typing import Literal

from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext

Rhythm = Literal["daily", "weekdays", "weekly", "monthly"]
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
LAST = "L"
"""The last day of a month in a cron expression."""

_simple = re.compile(
    r"(?P<minute>\d{1,2}) (?P<hour>\d{1,2}) (?P<day>\*|L|\d{1,2}) \* (?P<days>\*|MON-FRI|[A-Z]{3}(,[A-Z]{3})*)",
    re.ASCII,
)


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
    """Parse a cron expression, or return None if it is not a simple repetition."""
    found = _simple.fullmatch(" ".join(expression.upper().split()))
    if found is None:
        return None
    hour, minute = int(found["hour"]), int(found["minute"])
    if hour > 23 or minute > 59:
        return None
    at, day, days = time(hour, minute), found["day"], found["days"]
    if day == "*":
        if days in ("*", "MON-FRI"):
            return Repeat("daily" if days == "*" else "weekdays", at)
        named = tuple(days.split(","))
        return Repeat("weekly", at, days=named) if set(named) <= set(DAYS) else None
    if days != "*" or not (day == LAST or 1 <= int(day) <= 31):
        return None
    return Repeat("monthly", at, day=day if day == LAST else str(int(day)))


def repeat_words(repeat: Repeat) -> str:
    """Describe the repetition in the current language, such as `Every day at 09:00`."""
    at = f"{repeat.time:%H:%M}"
    match repeat.rhythm:
        case "daily":
            return gettext("Every day at {time}").format(time=at)
        case "weekdays":
            return gettext("Every day from Monday to Friday at {time}").format(time=at)
        case "weekly":
            chosen = (str(WEEKDAYS[place]) for place, one in enumerate(DAYS) if one in repeat.days)
            return gettext("Every week on {days} at {time}").format(days=", ".join(chosen), time=at)
        case "monthly" if repeat.day == LAST:
            return gettext("On the last day of every month at {time}").format(time=at)
        case _:
            return gettext("On day {day} of every month at {time}").format(day=repeat.day, time=at)
