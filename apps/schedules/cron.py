"""Parses cron expressions with five fields, and names such as `@daily`."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.utils.translation import get_language, gettext

from apps.schedules.repeats import read_repeat, repeat_words

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


def cron_words(expression: str) -> str:
    """Describe a cron expression in words. Outside English, quote complex expressions."""
    if get_language() in (None, "en"):
        return CronSim(fields_of(expression), ANY_TIME).explain()
    if (repeat := read_repeat(fields_of(expression))) is not None:
        return repeat_words(repeat)
    # Isolated, so that texts from right to left do not reverse the fields.
    return gettext("On the cron schedule {expression}").format(
        expression=f"\u2066{expression}\u2069"
    )
