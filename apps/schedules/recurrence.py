"""Computes the times of recurrence rules (RFC 5545) whose periods are days or longer.

Rules are expanded without a time zone, because the library would otherwise return times that clocks
skip.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr
from django.utils.translation import gettext, gettext_lazy

from apps.integers import read_integer
from apps.schedules.wall_clock import utc_moment

LONGEST = 300
MOST_TIMES_A_DAY = 24
MOST_INTERVAL = 1_000
HORIZON = timedelta(days=9 * 366)
"""A search for the next time covers this period, because leap days are at most eight years apart.
An unlimited search with a rule that never matches would take seconds.
"""
FREQUENCIES = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
PARTS = frozenset(
    {
        *("FREQ", "INTERVAL", "UNTIL", "WKST", "BYMONTH", "BYMONTHDAY", "BYYEARDAY"),
        *("BYWEEKNO", "BYDAY", "BYHOUR", "BYMINUTE", "BYSETPOS", "BYEASTER"),
    }
)
INSTEAD = {
    "COUNT": gettext_lazy("Set the maximum number of runs instead"),
    "BYSECOND": gettext_lazy("Times can’t include seconds"),
}
STEPS = {"DAILY": timedelta(days=1), "WEEKLY": timedelta(weeks=1)}
_until = re.compile(r"\d{8}(T\d{6}Z?)?", re.ASCII)
ANY_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - the clock here has no zone


def parts_of(rule: str) -> dict[str, str]:
    """Return the parts of a rule by name. Names and values are in upper case."""
    text = rule.strip().upper().removeprefix("RRULE:")
    pairs = (part.partition("=") for part in text.split(";") if part)
    return {name.strip(): value.strip() for name, _, value in pairs}


def interval_of(parts: Mapping[str, str]) -> int:
    """Return the rule's `INTERVAL`, or 0 if it is invalid."""
    return read_integer(parts.get("INTERVAL", "1"), MOST_INTERVAL) or 0


def rule_problem(rule: str) -> str:
    """Return a sentence that explains why the rule cannot be used, or "" if it can."""
    if len(rule) > LONGEST or "\n" in rule.strip():
        return gettext("Enter a single rule with up to {longest} characters.").format(
            longest=LONGEST
        )
    parts = parts_of(rule)
    if parts.get("FREQ") not in FREQUENCIES:
        return gettext(
            "Enter a rule such as FREQ=MONTHLY;BYDAY=-1FR. FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY. To run the schedule more often, choose an interval or a cron expression."
        )
    if problem := part_problem(parts):
        return problem
    try:
        expand_rule(rule, ANY_TIME, ANY_TIME)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        return gettext("The rule isn’t valid: {error}. Correct it and try again.").format(
            error=error
        )
    return ""


def part_problem(parts: Mapping[str, str]) -> str:
    for name in parts:
        if name not in PARTS:
            return gettext("{problem}. Remove {name}.").format(
                problem=INSTEAD.get(name, gettext("This part isn’t supported")), name=name
            )
    if not interval_of(parts):
        return gettext("INTERVAL must be a number from 1 to {most_interval}.").format(
            most_interval=MOST_INTERVAL
        )
    if not _until.fullmatch(parts.get("UNTIL", "20000101")):
        return gettext("UNTIL must be a date such as 20271231.")
    times = len(parts.get("BYHOUR", "0").split(",")) * len(parts.get("BYMINUTE", "0").split(","))
    if times > MOST_TIMES_A_DAY:
        return gettext(
            "The schedule runs {times} times a day; the limit is {most_times_a_day}."
        ).format(times=times, most_times_a_day=MOST_TIMES_A_DAY)
    return ""


def end_of_day(written: str) -> datetime:
    """Return the last minute of a day such as 20261101. Raises `ValueError` if the day is invalid."""
    return datetime.strptime(written[:8], "%Y%m%d") + timedelta(hours=23, minutes=59)  # noqa: DTZ007 - as above


def expand_rule(rule: str, start: datetime, horizon: datetime) -> rrule:
    """Return the rule as an object that yields its times from `start` to `horizon`. All times are
    without a time zone. Raises `ValueError` if the rule is invalid.
    """
    parts = parts_of(rule)
    until = parts.pop("UNTIL", None)
    end = horizon if until is None else min(horizon, end_of_day(until))
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    found = rrulestr(text, dtstart=start.replace(second=0, microsecond=0))
    if not isinstance(found, rrule):
        raise ValueError("use a single rule")
    return found.replace(until=end)


def next_of_rule(rule: str, start: datetime, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the rule's first run time after `after`, in UTC, or None if there is none within
    `HORIZON`. `start` is timezone-aware.
    """
    naive = start.astimezone(zone).replace(tzinfo=None)
    # On a night when clocks skip an hour, a time may move past a later time, so begin a day earlier
    # and compare times in UTC.
    earlier = (after.astimezone(zone) - timedelta(days=1)).replace(tzinfo=None)
    begin = later_start(parts_of(rule), naive, earlier)
    times = expand_rule(rule, begin, max(earlier, naive) + HORIZON)
    found = (utc_moment(one, zone) for one in times.xafter(earlier, inc=True))
    return next((one for one in found if one > after and one >= start), None)


def later_start(parts: Mapping[str, str], start: datetime, until: datetime) -> datetime:
    """Return a later start date that results in the same future times, so that the search skips
    past times.

    The start of monthly and yearly rules does not change, because such rules have few times, and
    the start date determines their days.
    """
    step = STEPS.get(parts["FREQ"])
    if step is None or until <= start:
        return start
    length = step * interval_of(parts)
    return start + max(0, (until - start) // length - 1) * length
