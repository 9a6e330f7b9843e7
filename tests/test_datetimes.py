"""Times are parsed in one place, and only times that can be shown in every time zone are stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import connection

from apps.accounts.arrivals import Invitation
from apps.datetime_fields import repair_times
from apps.datetimes import EARLIEST, LATEST, of_timestamp, read_datetime, read_http_date
from apps.notes.models import Note
from apps.schedules.occurrences import ScheduleTiming, next_time
from tests.tables import each_row

LAST = LATEST - timedelta(days=1)
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


@each_row(
    ("written", "expected"),
    [
        ("2026-11-01", datetime(2026, 11, 1, 7, tzinfo=UTC)),
        ("2026-11-01T14:30:00+02:00", datetime(2026, 11, 1, 12, 30, tzinfo=UTC)),
        (" 2026-11-01T14:30:00Z\n", datetime(2026, 11, 1, 14, 30, tzinfo=UTC)),
        ("1900-01-01T00:00:00Z", EARLIEST),
        ("1899-12-31T16:00:00-08:00", EARLIEST),
        ("2199-12-31T00:00:00Z", LAST),
    ],
)
def test_a_time_without_an_offset_is_on_the_clocks_of_the_zone(written: str, expected: datetime):
    assert read_datetime(written, LOS_ANGELES) == expected
    assert read_datetime(written, LOS_ANGELES).tzinfo is UTC


@each_row(
    "written",
    [
        *("", "soon", "2026-13-01", "2026-11-01T25:00", "\0", "\ud800", "9" * 5_000),
        *("0001-01-01", "0001-01-01T00:00:00+14:00", "1899-12-31T23:59:59Z"),
        *("2200-01-01T00:00:00Z", "2199-12-31T23:00:00-08:00", "9999-12-31T23:59:59-14:00"),
    ],
)
def test_other_times_are_refused_in_a_sentence(written: str):
    said = r"can’t be used\. Enter a date from 1900 to 2199\. Use a format such as"
    with pytest.raises(ValueError, match=said):
        read_datetime(written, LOS_ANGELES)


@each_row("seconds", [float("nan"), float("inf"), 1e20, -1e20, 10**400, 253402300799, -62135596800])
def test_seconds_that_no_time_has_are_no_time(seconds: float):
    assert of_timestamp(seconds) is None


def test_seconds_count_from_1970():
    assert of_timestamp(86_400) == datetime(1970, 1, 2, tzinfo=UTC)


@each_row(
    ("written", "expected"),
    [
        ("Sun, 01 Nov 2026 14:30:00 GMT", datetime(2026, 11, 1, 14, 30, tzinfo=UTC)),
        ("Sun, 01 Nov 2026 14:30:00 -0000", datetime(2026, 11, 1, 14, 30, tzinfo=UTC)),
        ("Fri, 31 Dec 9999 23:59:59 -1400", None),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", None),
        ("Fri, 31 Dec 2026 23:59:59 +99999999999", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_dates_of_headers_are_read(written: str, expected: datetime | None):
    assert read_http_date(written) == expected


def test_a_schedule_has_no_time_beyond_the_bounds():
    timing = ScheduleTiming("interval", LAST, seconds=366 * 24 * 3600)

    assert next_time(timing, LAST) is None
    assert next_time(timing, LAST - timedelta(days=1)) == LAST


@pytest.mark.django_db
@pytest.mark.postgres
@each_row("at", [LATEST, datetime.max.replace(tzinfo=UTC), EARLIEST - timedelta(seconds=1)])
def test_a_row_with_another_time_is_not_saved(at: datetime):
    row = Note(owner="user-1", title="A", key="a", created_at=at, modified_at=LAST)

    with pytest.raises(ValidationError, match="Enter a date from 1900 to 2199"):
        row.full_clean()
    with pytest.raises(ValidationError, match="Enter a date from 1900 to 2199"):
        Note.objects.bulk_create([row])


@pytest.mark.django_db
@pytest.mark.postgres
def test_a_time_that_was_stored_before_is_moved_to_the_nearest_one():
    repair: Any = repair_times("accounts", ("Invitation", "expires_at"))
    rows = [Invitation.objects.create(token_hash=str(number)) for number in range(3)]
    too_late = "'20000-01-01 00:00:00+00'" if connection.vendor == "postgresql" else "'9999-12-31'"
    with connection.cursor() as cursor:
        table = Invitation._meta.db_table
        for row, at in zip(rows, ("'0001-01-01'", too_late, "'2026-11-01'"), strict=True):
            cursor.execute(f"UPDATE {table} SET expires_at = {at} WHERE id = {row.pk}")

    repair.code(apps, SimpleNamespace(connection=connection))

    found = Invitation.objects.order_by("pk").values_list("expires_at", flat=True)
    assert list(found) == [EARLIEST, LAST, datetime(2026, 11, 1, tzinfo=UTC)]
