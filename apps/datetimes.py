"""Parses dates and times from users and other programs, rejects those out of bounds, and formats ages.

Python and PostgreSQL support different ranges of years, and time zone conversions fail at the ends
of a range. Every time within these bounds can be stored and shown in every time zone.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime
from functools import cache
from zoneinfo import available_timezones

from django.utils import timezone
from django.utils.dateformat import format
from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
"""The exclusive upper bound of accepted times. `EARLIEST` is the inclusive lower bound."""
NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
"""Files in the system's time zone database that are not time zones."""
EXAMPLE = "2026-11-01T14:30:00Z"


@cache  # Each search reads the folders of the system's time zones.
def zone_names() -> tuple[str, ...]:
    return tuple(sorted(available_timezones() - NOT_ZONES))


def time_ago(at: datetime) -> str:
    """Return a text such as `5 minutes ago`, or `just now` in the first minute."""
    minutes = (timezone.now() - at) // timedelta(minutes=1)
    if minutes < 1:
        return gettext("just now")
    if minutes < 60:
        return ngettext("{count} minute ago", "{count} minutes ago", minutes).format(count=minutes)
    hours = minutes // 60
    if hours < 24:
        return ngettext("{count} hour ago", "{count} hours ago", hours).format(count=hours)
    days = hours // 24
    return ngettext("{count} day ago", "{count} days ago", days).format(count=days)


def time_element(at: datetime, text: str) -> SafeString:
    """Return a `<time>` element with the text. The tooltip contains the full time and its zone."""
    full = format(at, f"{get_format('DATETIME_FORMAT')}:s e")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', at.isoformat(timespec="seconds"), full, text
    )


def is_within_bounds(at: datetime) -> bool:
    return EARLIEST <= at < LATEST


def bounds_text() -> str:
    """Return the sentence that asks the user for a date within the bounds."""
    text = gettext("Enter a date from {first} to {last}.")
    return text.format(first=EARLIEST.year, last=LATEST.year - 1)


def date_problem(written: str, example: str = EXAMPLE) -> str:
    """Return the error message for a text that is not a date within the bounds. It shows `example`
    as a valid date.
    """
    text = gettext("{written} can’t be used. {bounds} Use a format such as {example}.")
    return text.format(written=repr(written[:40]), bounds=bounds_text(), example=example)


def read_datetime(written: str, zone: tzinfo = UTC, example: str = EXAMPLE) -> datetime:
    """Parse an ISO 8601 date or time, and return it in UTC. A time without an offset is in `zone`.

    Raises `ValueError` with the message of `date_problem` if it is malformed or out of bounds.
    """
    try:
        found = datetime.fromisoformat(written.strip())
        found = found if found.tzinfo is not None else found.replace(tzinfo=zone)
        return to_utc(found)
    except (ValueError, OverflowError):
        raise ValueError(date_problem(written, example)) from None


def read_http_date(written: str) -> datetime | None:
    """Parse the value of an HTTP header such as `Date`. Return the time in UTC, or None if it is
    invalid.
    """
    try:
        found = parsedate_to_datetime(written)
        return to_utc(found if found.tzinfo is not None else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def of_timestamp(seconds: float) -> datetime | None:
    """Return the UTC time of a Unix timestamp, or None if it is out of bounds."""
    try:
        return to_utc(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def to_utc(at: datetime) -> datetime:
    """Convert a time with an offset to UTC. Raises `ValueError` if it is out of bounds."""
    # Compare before the conversion, which fails at the ends of the calendar.
    if not is_within_bounds(at):
        raise ValueError(at)
    return at.astimezone(UTC)
