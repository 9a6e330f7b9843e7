"""Dates and times that others write, read in one place and within bounds.

Python and PostgreSQL end at different years, and a conversion to another time zone fails near both ends.
Within these bounds every stored time can be shown in every zone.
"""

from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime
from functools import cache
from zoneinfo import available_timezones

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
"""The first moment that is too late."""
EXAMPLE = "2026-11-01T14:30:00Z"


@cache  # each search reads the folders of the system's time zones
def zone_names() -> tuple[str, ...]:
    """Return the names of all time zones, sorted."""
    return tuple(sorted(available_timezones()))


def is_within_bounds(at: datetime) -> bool:
    return EARLIEST <= at < LATEST


def read_datetime(written: str, zone: tzinfo = UTC) -> datetime:
    """Return an ISO 8601 date or time in UTC; without an offset, it is on the clocks of the zone.

    Raises `ValueError` with a sentence for the reader.
    """
    try:
        found = datetime.fromisoformat(written.strip())
        found = found if found.tzinfo is not None else found.replace(tzinfo=zone)
        return bounded(found)
    except (ValueError, OverflowError):
        raise ValueError(
            f"{written[:40]!r} is not a date from {EARLIEST.year} to {LATEST.year - 1}. "
            f"Write one such as {EXAMPLE}."
        ) from None


def read_http_date(written: str) -> datetime | None:
    """Return the time of an HTTP header in UTC, or None if it cannot be read."""
    try:
        found = parsedate_to_datetime(written)
        return bounded(found if found.tzinfo is not None else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def of_timestamp(seconds: float) -> datetime | None:
    """Return the time that is so many seconds after 1970 in UTC, or None if it is out of bounds."""
    try:
        return bounded(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def bounded(at: datetime) -> datetime:
    """Return an aware time in UTC. Raises `ValueError`."""
    # Compared before it is converted, which fails at the ends of the calendar.
    if not is_within_bounds(at):
        raise ValueError(at)
    return at.astimezone(UTC)
