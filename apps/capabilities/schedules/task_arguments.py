"""Converts between tool arguments and schedule fields."""

from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any
from uuid import UUID

from apps.datetimes import date_problem, read_datetime
from apps.errors import InvalidParameter
from apps.schedules.models import Schedule
from apps.schedules.wall_clock import zone_of

WAKE_AT = "wakeAtISO"
EXAMPLE = "2026-11-24T17:30:00+01:00"
REPEAT = "repeatIntervalMinutes"


def schedule_fields(given: Mapping[str, Any], time_zone: str) -> dict[str, Any]:
    """Return the schedule fields that the arguments set. Raises `InvalidParameter` if one is
    invalid.
    """
    zone = given.get("timezone") or time_zone
    return {
        field: read(argument, given[argument], zone)
        for argument, (field, read) in READERS.items()
        if argument in given
    }


def read_moment(argument: str, written: str, zone: str) -> datetime:
    """Parse a date and time, in `zone` if it has no offset. Raises `InvalidParameter` if the time
    or the zone is invalid.
    """
    try:
        return read_datetime(written, zone_of(zone or "UTC"), EXAMPLE)
    except (ValueError, LookupError, OSError):  # An unknown zone raises this error too.
        raise InvalidParameter(argument, date_problem(written, EXAMPLE)) from None


def repeat_seconds(argument: str, minutes: float, zone: str = "") -> int:
    """Convert minutes to seconds. Raises `InvalidParameter` if the interval is out of range."""
    if not 1 <= minutes <= 366 * 24 * 60:
        raise InvalidParameter(argument, "it must be between 1 minute and a year.")
    return round(minutes * 60)


def read_hour(argument: str, written: str, zone: str) -> time | None:
    """Parse a time of day, or return None for "". Raises `InvalidParameter` if it is invalid."""
    if not written.strip():
        return None
    try:
        return time.fromisoformat(written.strip()).replace(tzinfo=None)
    except ValueError:
        raise InvalidParameter(argument, "use a time such as 22:00.") from None


def read_version(argument: str, number: int, zone: str) -> int | None:
    return number or None


def as_written(argument: str, value: Any, zone: str) -> Any:
    return value.strip() if isinstance(value, str) else value


READERS: Mapping[str, tuple[str, Callable[[str, Any, str], Any]]] = {
    "message": ("message", as_written),
    "name": ("name", as_written),
    "kind": ("kind", as_written),
    "timezone": ("time_zone", as_written),
    WAKE_AT: ("start_at", read_moment),
    "intervalSeconds": ("interval_seconds", as_written),
    REPEAT: ("interval_seconds", repeat_seconds),
    "cronExpression": ("expression", as_written),
    "activeHoursStart": ("active_from", read_hour),
    "activeHoursEnd": ("active_until", read_hour),
    "budgetTokens": ("budget_tokens", as_written),
    "version": ("pinned_version", read_version),
}
"""Maps each tool argument to a schedule field and the function that parses the argument."""
ARGUMENTS = {field: argument for argument, (field, _) in reversed(list(READERS.items()))}


def read_schedule_id(written: str) -> UUID | None:
    try:
        return UUID(written.strip())
    except ValueError:
        return None


def list_schedule(row: Schedule) -> dict[str, Any]:
    """Return the schedule's properties for the model."""
    return {
        "taskId": str(row.pk),
        "name": row.name,
        "isAlarm": row.is_alarm,
        "message": row.message,
        "version": row.pinned_version or "live",
        "runs": row.words,
        "nextRun": None if row.is_paused or row.next_at is None else row.next_at.isoformat(),
        "lastRun": None if row.last_at is None else row.last_at.isoformat(),
        "runCount": row.run_count,
        "maxRuns": row.max_runs,
        "deleteAfterRun": row.is_deleted_after,
        "createdBy": row.made_by,
        "paused": row.is_paused,
        "problem": row.pause_reason or row.last_problem,
        "budgetTokens": row.budget_tokens,
    }
