from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.insights.budgets.windows import ALWAYS, WindowSpan, window_at
from tests.contract import proves

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [ZoneInfo(name) for name in sorted(available_timezones())]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


@proves("budgets")
@pytest.mark.parametrize(
    ("kind", "now", "start", "end"),
    [
        ("day", utc(2026, 1, 31, 22, 59), utc(2026, 1, 30, 23), utc(2026, 1, 31, 23)),
        ("day", utc(2026, 3, 29, 12), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("day", utc(2026, 10, 25, 12), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("month", utc(2026, 2, 28, 23, 30), utc(2026, 2, 28, 23), utc(2026, 3, 31, 22)),
        ("month", utc(2026, 12, 5), utc(2026, 11, 30, 23), utc(2026, 12, 31, 23)),
        ("hour", utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 0), utc(2026, 10, 25, 1)),
        ("hour", utc(2026, 10, 25, 1, 30), utc(2026, 10, 25, 1), utc(2026, 10, 25, 2)),
    ],
)
def test_days_and_months_begin_in_the_time_zone(kind, now, start, end):
    assert window_at(kind, BERLIN, now) == WindowSpan(start, end)


def test_an_hour_begins_with_the_clock_where_it_is_off_by_half_an_hour():
    found = window_at("hour", ZoneInfo("Asia/Kolkata"), utc(2026, 1, 1, 12, 10))

    assert found == WindowSpan(utc(2026, 1, 1, 11, 30), utc(2026, 1, 1, 12, 30))


def test_a_run_has_one_window_for_ever():
    assert window_at("", BERLIN, utc(2026, 1, 1)) == WindowSpan(ALWAYS, None)


@proves("budgets")
@given(
    st.floats(0, 2**31).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.sampled_from(ZONES),
    st.sampled_from(["hour", "day", "month"]),
)
def test_every_moment_is_in_its_window_and_the_next_one_follows(now, zone, kind):
    start, end = window_at(kind, zone, now)

    assert end is not None
    assert start <= now < end
    if kind != "hour":
        assert window_at(kind, zone, end - timedelta(microseconds=1)) == (start, end)
        assert window_at(kind, zone, end).start == end
