"""Times on the clock of a zone, where a night may lack an hour or have one twice."""

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

zone_of = lru_cache(maxsize=600)(ZoneInfo)


def moment(naive: datetime, zone: ZoneInfo) -> datetime:
    """The moment in UTC when clocks of the zone show this time.

    Of a time that they show twice it is the first; of one that they leave out, the moment at which
    they go on.
    """
    first = naive.replace(tzinfo=zone, fold=0)
    second = naive.replace(tzinfo=zone, fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None or before >= after:
        return first.astimezone(UTC)
    return end_of_gap(naive, zone, after - before)


def end_of_gap(naive: datetime, zone: ZoneInfo, length: timedelta) -> datetime:
    """The first moment after a gap of this length that the time is in."""
    # By the offset after the gap, the time is before its end; by the one before the gap, behind it.
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
    """The next moment at which clocks of the zone show a time of the day."""
    local = now.astimezone(zone)
    today = moment(datetime.combine(local.date(), opens), zone)
    if today > now:
        return today
    return moment(datetime.combine(local.date() + timedelta(days=1), opens), zone)
