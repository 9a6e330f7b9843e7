"""Hours and days are aggregated, and rows are deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import time_machine

from apps import old_rows
from apps.insights.models import ModelCall, SummedSpan, ToolUse, UsageSum
from apps.insights.periods import ends_of_sums
from apps.insights.rollups import delete_old, sum_up, sum_up_all
from apps.insights.sums import RunCount
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = pytest.mark.django_db

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MIDNIGHT = NOON.replace(hour=0)


def no_runs(since: datetime, until: datetime) -> list[RunCount]:
    return []


def marks(span: str) -> list[datetime]:
    return list(
        SummedSpan.objects.filter(span=span).order_by("start").values_list("start", flat=True)
    )


def test_an_hour_is_summed_up_half_an_hour_after_its_end_and_a_day_six_hours():
    store(model_call(), tool_use())
    done = {}

    for after in ("1:29:59", "1:30", "11:59:59", "18:00"):
        hours, minutes, seconds = [*map(int, after.split(":")), 0][:3]
        with time_machine.travel(NOON + timedelta(hours=hours, minutes=minutes, seconds=seconds)):
            done[after] = (sum_up_all(no_runs), sum_up_all(no_runs))

    # At 11:59:59, the hours up to 22:00 are aggregated; at 18:00 six more, the day, and the week
    # that it ends. Each time, so are 5, 10 and 11 spans of five minutes since the last hour.
    assert done == {"1:29:59": (0, 0), "1:30": (6, 0), "11:59:59": (20, 0), "18:00": (19, 0)}
    assert marks("day") == [MIDNIGHT]
    assert marks("week") == [MIDNIGHT - 6 * DAY]
    assert marks("hour")[:2] == [NOON, NOON + HOUR]


def test_after_the_last_hour_five_minutes_are_summed_up_five_minutes_after_their_end():
    store(model_call(), model_call(started_at=NOON + HOUR + timedelta(minutes=7)))
    with time_machine.travel(NOON + 1.5 * HOUR):
        sum_up_all(no_runs)

    rows = UsageSum.objects.filter(span="5min", dimension__in=("summed", "total"))

    assert sorted(rows.values_list("dimension", "start__minute", "calls")) == [
        *(("summed", minute, 0) for minute in range(0, 25, 5)), ("total", 5, 1)
    ]  # fmt: skip
    assert ends_of_sums() == {"hour": NOON + HOUR, "5min": NOON + HOUR + timedelta(minutes=25)}


def test_the_previous_version_finds_only_marks_of_spans_that_it_knows():
    store(model_call())

    with time_machine.travel(NOON + 1.5 * HOUR):
        sum_up_all(no_runs)

    assert set(SummedSpan.objects.values_list("span", flat=True)) == {"hour"}


def test_every_day_since_the_first_call_is_summed_up_once():
    store(model_call(), model_call(started_at=NOON + 2 * DAY))

    with time_machine.travel(NOON + 4 * DAY):
        sum_up_all(no_runs)

    assert marks("day") == [MIDNIGHT + number * DAY for number in range(4)]
    days = UsageSum.objects.filter(span="day", dimension="total").order_by("start")
    assert list(days.values_list("start", "calls")) == [(MIDNIGHT, 1), (MIDNIGHT + 2 * DAY, 1)]


def test_a_week_is_summed_up_from_its_days_whose_rows_may_be_gone():
    monday = MIDNIGHT - 6 * DAY
    store(*(model_call(started_at=monday + number * DAY) for number in range(8)))
    for number in range(8):
        sum_up(UsageSum.Span.DAY, monday + number * DAY, no_runs)
    ModelCall.objects.all().delete()

    with time_machine.travel(MIDNIGHT + 2 * DAY):
        sum_up_all(no_runs)

    assert marks("week") == [monday]
    week = UsageSum.objects.get(span="week", dimension="application")
    days = UsageSum.objects.filter(span="day", dimension="application", start__lt=monday + 7 * DAY)
    assert (week.start, week.calls, week.total_seconds) == (
        monday, 7, sum(day.total_seconds for day in days)
    )  # fmt: skip
    assert week.seconds == dict.fromkeys(days[0].seconds, 7)


def test_after_an_outage_the_hours_of_the_last_days_are_made_up_for():
    store(model_call(started_at=NOON - 30 * DAY), model_call(started_at=NOON - DAY))

    with time_machine.travel(NOON):
        sum_up_all(no_runs)

    hours = marks("hour")
    assert (hours[0], hours[-1], len(hours)) == (NOON - 8 * DAY, NOON - 2 * HOUR, 8 * 24 - 1)
    assert UsageSum.objects.get(span="hour", dimension="total").start == NOON - DAY


def test_a_process_that_comes_second_writes_nothing():
    store(model_call())

    first, second = (sum_up(UsageSum.Span.DAY, MIDNIGHT, no_runs) for _ in range(2))

    assert (first, second) == (True, False)
    assert UsageSum.objects.get(dimension="total").calls == 1


def test_a_day_whose_sums_could_not_be_written_stays_due(monkeypatch):
    store(model_call())
    monkeypatch.setattr(UsageSum.objects, "bulk_create", lambda *rows, **how: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        sum_up(UsageSum.Span.DAY, MIDNIGHT, no_runs)

    assert not SummedSpan.objects.exists()


def test_a_call_is_counted_in_each_dimension():
    store(model_call(error="timeout", currency="USD", cost=1), tool_use())

    def runs(since: datetime, until: datetime) -> list[RunCount]:
        return [RunCount(NOON, "travel", "user-7", "page", 3, 1)]

    sum_up(UsageSum.Span.HOUR, NOON, runs)

    values = ("dimension", "name", "currency", "calls", "runs", "failed_runs")
    expected = [
        ("application", "travel", "USD", 1, 3, 1),
        ("deployment", "gpt", "USD", 1, 0, 0),
        ("error", "timeout", "USD", 1, 0, 0),
        ("tool", "search", "", 1, 0, 0),
        ("tools", "", "", 1, 0, 0),
        ("total", "", "USD", 1, 3, 1),
        ("user", "user-7", "USD", 1, 3, 1),
        ("version", "travel@1", "USD", 1, 0, 0),
    ]
    within = [(f"{dimension}@travel", *rest) for dimension, *rest in expected]
    assert sorted(UsageSum.objects.values_list(*values)) == sorted(expected + within)


@pytest.mark.parametrize(("days", "left"), [(0, 3), (2, 1), (400, 3)])
def test_old_rows_are_deleted(settings, monkeypatch, days, left):
    settings.USAGE_DAYS = days
    monkeypatch.setattr(old_rows, "AT_ONCE", 1)
    for age in (1, 3, 4):
        store(model_call(started_at=NOON - age * DAY), tool_use(started_at=NOON - age * DAY))

    with time_machine.travel(NOON):
        sum_up_all(no_runs)
        deleted = delete_old()

    assert deleted == 2 * (3 - left)
    assert (ModelCall.objects.count(), ToolUse.objects.count()) == (left, left)
    totals = UsageSum.objects.filter(span="day", dimension__in=("total", "tools"))
    assert sum(totals.values_list("calls", flat=True)) == 6


def test_sums_of_five_minutes_are_deleted_after_a_day(settings):
    settings.USAGE_DAYS = 0
    store(model_call())
    with time_machine.travel(NOON + 1.5 * HOUR):
        sum_up_all(no_runs)
    with time_machine.travel(NOON + 1.5 * HOUR + DAY):
        delete_old()

    assert not UsageSum.objects.filter(span="5min").exists()
    assert UsageSum.objects.filter(span="hour").exists()


def test_sums_of_hours_are_deleted_when_nothing_reads_them_any_more(settings, monkeypatch):
    settings.USAGE_DAYS = 0
    monkeypatch.setattr(old_rows, "AT_ONCE", 2)
    store(model_call())
    with time_machine.travel(NOON + 2 * HOUR):
        sum_up_all(no_runs)

    with time_machine.travel(NOON + 9 * DAY):
        delete_old()

    assert not UsageSum.objects.filter(span="hour").exists()
    assert marks("hour") == [NOON]


def test_rows_that_are_not_summed_up_stay(settings):
    settings.USAGE_DAYS = 1
    store(model_call(started_at=NOON - 3 * DAY))

    with time_machine.travel(NOON):
        deleted = delete_old()

    assert deleted == 0
