"""Cron expressions of five fields, and their names such as `@daily`."""

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
ANY_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - the expression alone is read


def fields_of(expression: str) -> str:
    """The five fields of an expression or a name."""
    return NAMES.get(expression.strip().lower(), expression)


def cron_problem(expression: str) -> str:
    """Why this is no expression, as a sentence; "" if it is one."""
    if len(expression) > LONGEST:
        return gettext("It has {count} characters; at most {longest} are read.").format(
            count=len(expression), longest=LONGEST
        )
    parts = fields_of(expression).split()
    if len(parts) != FIELDS:
        return gettext(
            "Write five fields: minute, hour, day of the month, month, day of the week, such as “0 9 * * MON-FRI”; or one of {names}."
        ).format(names=", ".join(NAMES))
    try:
        CronSim(" ".join(parts), ANY_TIME)
    except CronSimError as error:
        return gettext("{error}. Write five fields such as “0 9 * * MON-FRI”.").format(error=error)
    return ""


def next_cron(expression: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The next time in UTC; None if there is none in the next decades."""
    times = CronSim(fields_of(expression), after.astimezone(zone))
    found = next(times, None)
    return None if found is None else found.astimezone(UTC)


def cron_words(expression: str) -> str:
    """As a sentence. Its library knows English alone, in which it describes every expression."""
    if get_language() in (None, "en"):
        return CronSim(fields_of(expression), ANY_TIME).explain()
    if (repeat := read_repeat(fields_of(expression))) is not None:
        return repeat_words(repeat)
    return gettext("By the cron expression {expression}").format(expression=expression)
