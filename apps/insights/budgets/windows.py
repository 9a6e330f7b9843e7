"""Computes the windows of budgets: hours, days or months in a time zone."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import models

ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
"""The start of a window without an end, for the budget of a run."""


class WindowKind(models.TextChoices):
    HOUR = "hour", "hourly"
    DAY = "day", "daily"
    MONTH = "month", "monthly"


class WindowSpan(NamedTuple):
    """A time range in UTC. It includes `start`, but not `end`. `end` is None if the range never
    ends.
    """

    start: datetime
    end: datetime | None


def window_at(kind: str, zone: ZoneInfo, now: datetime) -> WindowSpan:
    """Return the window that contains `now`. `kind` is a `WindowKind`, or "" for a window that
    never ends.
    """
    if not kind:
        return WindowSpan(ALWAYS, None)
    local = now.astimezone(zone)
    if kind == WindowKind.HOUR:
        # In elapsed time, because one clock hour occurs twice when daylight saving time ends.
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        start = now.astimezone(UTC) - into
        return WindowSpan(start, start + timedelta(hours=1))
    first = local.date() if kind == WindowKind.DAY else local.date().replace(day=1)
    # A date 31 days after the first of a month is always in the next month.
    next_month = (first + timedelta(days=31)).replace(day=1)
    following = first + timedelta(days=1) if kind == WindowKind.DAY else next_month
    return WindowSpan(midnight(first, zone), midnight(following, zone))


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the time at which a day starts in the time zone, even if clocks skip midnight."""
    return datetime.combine(day, time(), zone).astimezone(UTC)
