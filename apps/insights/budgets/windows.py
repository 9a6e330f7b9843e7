"""The windows of budgets: hours, days and months of a time zone."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import models

ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
"""The beginning of a window that does not end: that of a run."""


class WindowKind(models.TextChoices):
    HOUR = "hour", "hourly"
    DAY = "day", "daily"
    MONTH = "month", "monthly"


class Window(NamedTuple):
    """From `start` until before `end`, in UTC; None for one that does not end."""

    start: datetime
    end: datetime | None


def window_at(kind: str, zone: ZoneInfo, now: datetime) -> Window:
    """The window of that kind, "" for one that does not end, which a moment is in."""
    if not kind:
        return Window(ALWAYS, None)
    local = now.astimezone(zone)
    if kind == WindowKind.HOUR:
        # In time that passes, because an hour of the clock comes twice when summer time ends.
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        start = now.astimezone(UTC) - into
        return Window(start, start + timedelta(hours=1))
    first = local.date() if kind == WindowKind.DAY else local.date().replace(day=1)
    # A month after its first day is always in the next one.
    next_month = (first + timedelta(days=31)).replace(day=1)
    following = first + timedelta(days=1) if kind == WindowKind.DAY else next_month
    return Window(midnight(first, zone), midnight(following, zone))


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a day, also of one whose clocks skip midnight."""
    return datetime.combine(day, time(), zone).astimezone(UTC)
