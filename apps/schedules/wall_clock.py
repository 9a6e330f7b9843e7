"""Converts times of a time zone, whose clocks skip or repeat an hour in some nights."""

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

zone_of = lru_cache(maxsize=600)(ZoneInfo)


def utc_moment(naive: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment in UTC at which clocks of the zone show this time.

    For an ambiguous time, it is the first moment. For a skipped time, it is the moment at which the
    clock continues.
    """
    first = naive.replace(tzinfo=zone, fold=0)
    second = naive.replace(tzinfo=zone, fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None or before >= after:
        return first.astimezone(UTC)
    return end_of_gap(naive, zone, after - before)


def end_of_gap(naive: datetime, zone: ZoneInfo, length: timedelta) -> datetime:
    """Return the first moment after a gap of this length that contains the time."""
    # With the offset after the gap, the time is before the gap's end; with the offset before it,
    # after the end.
    low = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    high = low + length
    offset = high.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return high.replace(microsecond=0)


def opening_after(now: datetime, opens: time, zone: ZoneInfo) -> datetime:
    """Return the next moment at which clocks of the zone show a time of the day."""
    local = now.astimezone(zone)
    today = utc_moment(datetime.combine(local.date(), opens), zone)
    if today > now:
        return today
    return utc_moment(datetime.combine(local.date() + timedelta(days=1), opens), zone)
