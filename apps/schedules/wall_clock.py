"""Converts local times to UTC, including times that clocks skip or repeat at clock changes."""

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

zone_of = lru_cache(maxsize=600)(ZoneInfo)


def utc_moment(naive: datetime, zone: ZoneInfo) -> datetime:
    """Convert a local time to UTC. If clocks show the time twice, return the first occurrence. If
    they skip it, return the moment of the jump.
    """
    first = naive.replace(tzinfo=zone, fold=0)
    second = naive.replace(tzinfo=zone, fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None or before >= after:
        return first.astimezone(UTC)
    return end_of_gap(naive, zone, after - before)


def end_of_gap(naive: datetime, zone: ZoneInfo, length: timedelta) -> datetime:
    """Return the moment at which clocks jump over the local time `naive`. `length` is the size of
    the jump.
    """
    # With the offset after the gap, the time is before the gap's end. With the offset before the
    # gap, it is after the end.
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
    """Return the first moment after `now` at which the local time in the zone is `opens`."""
    local = now.astimezone(zone)
    today = utc_moment(datetime.combine(local.date(), opens), zone)
    if today > now:
        return today
    return utc_moment(datetime.combine(local.date() + timedelta(days=1), opens), zone)
