"""The times of schedules, including changes to and from daylight saving time."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import islice

import pytest

from apps.schedules.occurrences import DueTimes, ScheduleTiming, due_times, next_time, times_after
from tests.contract import proves

START = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"


def utc(written: str) -> datetime:
    return datetime.fromisoformat(written).astimezone(UTC)


def local(timing: ScheduleTiming, after: str, most: int = 3) -> list[str]:
    """Return the next local times in the zone, with their offsets."""
    found = islice(times_after(timing, utc(after)), most)
    return [one.astimezone(timing.zone).isoformat(timespec="minutes") for one in found]


DAILY = "FREQ=DAILY;BYHOUR={};BYMINUTE={}"


@proves("D-42")
@pytest.mark.parametrize(
    ("zone", "clock", "after", "expected"),
    [
        # Clocks change from 2:00 to 3:00.
        (
            BERLIN,
            (2, 30),
            "2026-03-28T12:00+01:00",
            ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00", "2026-03-31T02:30+02:00"],
        ),
        # Clocks change from 3:00 back to 2:00.
        (
            BERLIN,
            (2, 30),
            "2026-10-24T12:00+02:00",
            ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00", "2026-10-27T02:30+01:00"],
        ),
        (
            NEW_YORK,
            (2, 30),
            "2026-03-07T12:00-05:00",
            ["2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00", "2026-03-10T02:30-04:00"],
        ),
        (
            NEW_YORK,
            (1, 30),
            "2026-10-31T12:00-04:00",
            ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00", "2026-11-03T01:30-05:00"],
        ),
        # Clocks change by half an hour, from 2:00 to 2:30 and back from 2:00 to 1:30.
        (
            LORD_HOWE,
            (2, 15),
            "2026-10-03T12:00+10:30",
            ["2026-10-04T02:30+11:00", "2026-10-05T02:15+11:00", "2026-10-06T02:15+11:00"],
        ),
        (
            LORD_HOWE,
            (1, 45),
            "2026-04-04T12:00+11:00",
            ["2026-04-05T01:45+11:00", "2026-04-06T01:45+10:30", "2026-04-07T01:45+10:30"],
        ),
    ],
)
@pytest.mark.parametrize("kind", ["cron", "rrule"])
def test_a_time_that_a_night_lacks_comes_at_its_end_and_one_that_it_has_twice_comes_once(
    kind, zone, clock, after, expected
):
    hour, minute = clock
    expression = f"{minute} {hour} * * *" if kind == "cron" else DAILY.format(hour, minute)
    timing = ScheduleTiming(kind, START, expression=expression, zone_name=zone)

    assert local(timing, after) == expected


def test_an_interval_counts_the_time_that_passes_in_a_night_with_two_equal_hours():
    start = utc("2026-10-25T01:30+02:00")
    timing = ScheduleTiming("interval", start, seconds=3600, zone_name=BERLIN)

    assert local(timing, "2026-10-25T01:30+02:00") == [
        "2026-10-25T02:30+02:00",
        "2026-10-25T02:30+01:00",
        "2026-10-25T03:30+01:00",
    ]


@pytest.mark.slow("searches a calendar to its end")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", ["2026-01-30", "2026-02-27", "2026-03-27"]),
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", ["2026-01-12", "2026-01-26", "2026-02-09"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ["2028-02-29", "2032-02-29", "2036-02-29"]),
        ("FREQ=DAILY;INTERVAL=10;UNTIL=20260115T000000Z", ["2026-01-11"]),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", []),
    ],
)
def test_a_recurrence_rule_keeps_its_calendar_and_ends_its_search(rule, expected):
    timing = ScheduleTiming(
        "rrule", utc("2026-01-01T09:00+01:00"), expression=rule, zone_name=BERLIN
    )

    found = local(timing, "2026-01-02T00:00+01:00")

    assert found == [f"{day}T09:00+01:00" for day in expected]


def test_a_rule_of_years_ago_keeps_its_rhythm():
    old = utc("2001-01-01T09:00+01:00")
    timing = ScheduleTiming("rrule", old, expression="FREQ=DAILY;INTERVAL=3", zone_name=BERLIN)

    found = next_time(timing, utc("2026-06-01T12:00+02:00"))

    assert found is not None
    local = found.astimezone(timing.zone)
    assert (local.date() - old.date()).days % 3 == 0
    assert local.isoformat() == "2026-06-04T09:00:00+02:00"


@proves("D-42")
@pytest.mark.parametrize(
    ("opens", "closes", "after", "expected"),
    [
        (time(9), time(17), "2026-05-04T08:00+02:00", "2026-05-04T09:00+02:00"),
        (time(9), time(17), "2026-05-04T16:40+02:00", "2026-05-05T09:00+02:00"),
        (time(22), time(6), "2026-05-04T23:50+02:00", "2026-05-05T00:00+02:00"),
        (time(22), time(6), "2026-05-04T05:45+02:00", "2026-05-04T22:00+02:00"),
    ],
)
def test_times_outside_of_the_active_hours_are_left_out_also_across_midnight(
    opens, closes, after, expected
):
    start = utc("2026-05-01T00:00+02:00")
    timing = ScheduleTiming("interval", start, 1800, zone_name=BERLIN, opens=opens, closes=closes)

    assert local(timing, after, 1) == [expected]


def test_a_schedule_that_is_never_within_its_hours_has_no_time():
    timing = ScheduleTiming("cron", START, expression="0 3 * * *", opens=time(9), closes=time(17))

    assert next_time(timing, START) is None


@proves("D-41")
def test_a_moment_comes_once_and_with_an_interval_again():
    at = utc("2026-05-04T10:00+00:00")

    assert next_time(ScheduleTiming("at", at), START) == at
    assert next_time(ScheduleTiming("at", at), at) is None
    assert next_time(ScheduleTiming("at", at, seconds=90), at) == at + timedelta(seconds=90)


EVERY_HOUR = ScheduleTiming("interval", START, seconds=3600)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("missed", "late", "expected"),
    [
        ("skip", timedelta(seconds=30), DueTimes((START,), START + HOUR)),
        ("skip", timedelta(minutes=30), DueTimes((), START + HOUR, 1)),
        (
            "skip",
            2 * HOUR + timedelta(seconds=5),
            DueTimes((START + 2 * HOUR,), START + 3 * HOUR, 2),
        ),
        ("once", 2.5 * HOUR, DueTimes((START + 2 * HOUR,), START + 3 * HOUR, 2)),
        ("all", 2.5 * HOUR, DueTimes((START + HOUR, START + 2 * HOUR), START + 3 * HOUR, 1)),
    ],
)
def test_times_that_nobody_was_there_for_are_treated_as_the_schedule_says(missed, late, expected):
    assert due_times(EVERY_HOUR, START, START + late, missed, 2) == expected


def test_years_of_missed_minutes_are_not_counted_one_by_one():
    minutes = ScheduleTiming("interval", START, seconds=60)
    now = START + timedelta(days=900, seconds=5)

    found = due_times(minutes, START, now, "once", 10)

    assert (len(found.times), found.next) == (1, now + timedelta(seconds=55))
