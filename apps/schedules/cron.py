"""Parses cron expressions with five fields, and names such as `@daily`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.utils.translation import gettext

FIELDS = 5
LONGEST = 200
NAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
SIZES = {"minute": 60, "hour": 24, "day of the month": 31, "month": 12, "day of the week": 7}
"""The number of values that each field can have, which is also the maximum step."""
ANY_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only the expression is read

LAST_DAYS = {CronSim.LAST: -1, CronSim.LAST_WEEKDAY: -2}
"""CronSim's numbers of the last day and of the last working day of a month."""

_step = re.compile(r"/(\d+)", re.ASCII)


def fields_of(expression: str) -> str:
    """Return the five fields of an expression, which may be a name such as `@daily`."""
    return NAMES.get(expression.strip().lower(), expression)


def cron_problem(expression: str) -> str:
    """Return a sentence about the error in a cron expression, or "" if it is valid."""
    if len(expression) > LONGEST:
        return gettext("The expression has {count} characters; the limit is {longest}.").format(
            count=len(expression), longest=LONGEST
        )
    parts = fields_of(expression).split()
    if len(parts) != FIELDS:
        return gettext(
            "Enter five fields (minute, hour, day of the month, month and day of the week), such as “0 9 * * MON-FRI”, or one of these names: {names}."
        ).format(names=", ".join(NAMES))
    if error := syntax_error(parts):
        return gettext("{error}. Enter five fields, such as “0 9 * * MON-FRI”.").format(error=error)
    return ""


def syntax_error(fields: Sequence[str]) -> str:
    """Return the syntax error in the five fields, in English, or ""."""
    for field, (name, size) in zip(fields, SIZES.items(), strict=True):
        if any(int(step) > size for step in _step.findall(field)):
            return f"Bad step of the {name}: the limit is {size}"
    try:
        CronSim(" ".join(fields), ANY_TIME)
    except AssertionError:  # The field has a step after a weekday such as 1#2.
        return "Bad day-of-week"
    except CronSimError as error:
        return str(error)
    return ""


def next_cron(expression: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first run time after `after`, in UTC, or None if there is none for decades."""
    times = CronSim(fields_of(expression), after.astimezone(zone))
    found = next(times, None)
    return None if found is None else found.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class CronTimes:
    """The times of a cron expression, in order. An empty tuple of days or months means all of them."""

    minutes: tuple[int, ...]
    """The times of day, in minutes since midnight."""
    days: tuple[int, ...]
    """The days of the month. The last day is -1, and the last working day is -2."""
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    """The days of the week, from 0 for Monday."""
    counted_weekdays: tuple[tuple[int, int], ...]
    """Days of the week with their numbers in the month, such as (0, 2) for the second Monday. The
    number of the last one is -1.
    """


def read_cron(expression: str) -> CronTimes:
    """Parse a valid cron expression."""
    cron = CronSim(fields_of(expression), ANY_TIME)
    days = [LAST_DAYS.get(day, day) for day in cron.days]
    weekdays = {(one - 1) % 7 for one in cron.weekdays if isinstance(one, int)}
    counted = {
        ((one[0] - 1) % 7, LAST_DAYS.get(one[1], one[1]))
        for one in cron.weekdays
        if isinstance(one, tuple)
    }
    return CronTimes(
        tuple(sorted(60 * hour + minute for hour, minute in product(cron.hours, cron.minutes))),
        () if len(days) == SIZES["day of the month"] else tuple(sorted(days)),
        () if len(cron.months) == SIZES["month"] else tuple(sorted(cron.months)),
        () if len(weekdays) == SIZES["day of the week"] else tuple(sorted(weekdays)),
        tuple(sorted(counted)),
    )
