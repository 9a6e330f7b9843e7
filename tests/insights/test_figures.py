"""Usage of a period, from the rows of calls and from aggregated hours and days."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any, get_args

import pytest
import time_machine
from django.db.models import Q

from apps.insights.figures import By, Figures, UsageReport, of_period, report
from apps.insights.models import ModelCall, SummedSpan, UsageSum
from apps.insights.periods import Period, start_of_day
from apps.insights.rollups import sum_up_all
from apps.insights.sums import TOTAL, RunCount
from tests.contract import proves
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

DAY, WEEK, MONTH = timedelta(days=1), timedelta(days=7), timedelta(days=30)
NOW = NOON + timedelta(hours=2)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False):
        yield


def no_runs(since: datetime, until: datetime) -> list[RunCount]:
    return []


def found(by: Any, length: timedelta, **how: Any) -> UsageReport:
    return report(by, length, no_runs, **how)


def near(*seconds: float) -> Any:
    return pytest.approx(seconds, rel=0.05)


@proves("T-61")
def test_fixed_rows_give_fixed_numbers():
    store(
        *(model_call(seconds=float(n), first_text_seconds=n / 10) for n in range(1, 21)),
        model_call(application="other", seconds=3.0, error="status 500", cost=None),
        model_call(started_at=NOW - DAY - timedelta(minutes=1), seconds=1000.0),
    )

    of_day = found("application", DAY)

    assert [(one.name, one.sums.calls, one.sums.error_rate) for one in of_day.lines] == [
        ("travel", 20, 0.0), ("other", 1, 1.0)
    ]  # fmt: skip
    travel, other = of_day.lines
    assert (travel.seconds, travel.first_text_seconds) == (near(10, 19, 20), near(1.0, 1.9, 2.0))
    assert (other.seconds, other.first_text_seconds) == (near(3, 3, 3), (None, None, None))
    assert (travel.sums.mean_seconds, of_day.total.sums.calls) == (10.5, 21)
    assert of_day.total.seconds == near(10, 19, 20)


def test_what_was_stopped_is_no_error():
    store(model_call(error="cancelled"), model_call(error="timeout"))

    of_day = found("deployment", DAY)

    [line] = of_day.lines
    assert (line.sums.calls, line.sums.errors) == (2, 1)
    assert [(one.name, one.sums.errors) for one in of_day.errors] == [("timeout", 1)]


@proves("T-61")
def test_the_cache_hit_rate_is_the_mean_of_the_calls_that_report_it():
    store(
        model_call(input_tokens=100, cached_tokens=50),
        model_call(input_tokens=10_000, cached_tokens=0),
        model_call(input_tokens=100),
    )

    [line] = found("deployment", DAY).lines

    assert line.sums.cache_hit_rate == 0.25


def test_costs_are_told_apart_by_currency_and_calls_without_a_price_are_counted():
    store(
        model_call(cost=Decimal("0.10"), currency="USD"),
        model_call(cost=Decimal("0.20"), currency="USD"),
        model_call(cost=Decimal(3), currency="EUR"),
        model_call(),
    )

    [line] = found("user", MONTH).lines

    assert line.sums.costs == {"USD": Decimal("0.3"), "EUR": Decimal(3)}
    assert (line.name, line.sums.calls, line.sums.unpriced) == ("user-7", 4, 1)


def test_versions_are_lines_of_their_own_and_keys_are_no_users():
    store(
        model_call(version=1),
        model_call(version=2, bucket="key-1", bucket_kind="key"),
        model_call(version=2, bucket="key-1", bucket_kind="key"),
    )

    names = {
        by: [(one.name, one.sums.calls) for one in found(by, DAY).lines]
        for by in ("version", "user", "key")
    }

    assert names == {
        "version": [("travel@2", 2), ("travel@1", 1)],
        "user": [("user-7", 1)],
        "key": [("key-1", 2)],
    }
    assert found("user", DAY).callers == 2


@proves("T-61")
def test_tools_have_figures_of_their_own():
    store(
        model_call(),
        tool_use(seconds=2.0),
        tool_use(seconds=4.0, has_failed=True),
        tool_use(tool="look", seconds=None, location="client"),
        tool_use(tool="wait", seconds=60.0),
    )

    of_day = found("tool", DAY)

    assert [(one.name, one.sums.calls, one.sums.errors, one.seconds) for one in of_day.lines] == [
        ("search", 2, 1, near(2, 4, 4)),
        ("look", 1, 0, (None, None, None)),
        ("wait", 1, 0, near(60, 60, 60)),
    ]
    assert [one.name for one in of_day.slowest_tools] == ["wait", "search"]
    assert of_day.tools.sums.calls == 4


@pytest.mark.parametrize(
    ("order", "ascending", "names"),
    [
        ("calls", False, ["b", "a", "c"]),
        ("calls", True, ["a", "c", "b"]),
        ("name", True, ["a", "b", "c"]),
        ("cost", False, ["c", "a", "b"]),
        ("cost", True, ["a", "c", "b"]),
        ("errors", False, ["a", "b", "c"]),
    ],
)
def test_lines_are_in_the_order_that_is_asked_for(order, ascending, names):
    store(
        model_call(application="a", error="timeout", cost=Decimal(1), currency="USD"),
        model_call(application="b"),
        model_call(application="b"),
        model_call(application="c", cost=Decimal(2), currency="USD"),
    )

    lines = found("application", DAY, order=order, ascending=ascending).lines

    assert [one.name for one in lines] == names


def test_lines_that_are_not_shown_are_counted():
    store(*(model_call(application=f"app-{number}") for number in range(5)))

    of_day = found("application", DAY, most=2)

    assert ([one.name for one in of_day.lines], of_day.count) == (["app-0", "app-1"], 5)
    assert of_day.total.sums.calls == 5


def days_of_calls() -> None:
    store(
        *(
            model_call(
                started_at=NOON - timedelta(days=day, hours=number),
                application=application,
                bucket=f"user-{number}",
                seconds=1.0 + day + number,
                first_text_seconds=0.1 * number,
                error="timeout" if number == 3 else "",
                input_tokens=1000 + number,
                cached_tokens=500,
                output_tokens=7,
                cost=Decimal("0.0000001") * number,
                currency="USD",
            )
            for day in range(20)
            for application in ("travel", "other")
            for number in range(1, 4)
        ),
        *(tool_use(started_at=NOON - timedelta(days=day)) for day in range(20)),
    )


def run_each_hour(since: datetime, until: datetime) -> Iterator[RunCount]:
    hour = max(since, NOON - 19 * DAY).replace(minute=0)
    while hour < until:
        if hour >= since:
            yield RunCount(hour, "travel", "user-1", "page", 2, 1)
        hour += timedelta(hours=1)


@proves("T-61")
def test_what_is_summed_up_has_the_same_figures_as_its_rows():
    dimensions: tuple[By, ...] = ("application", "version", "user", "key", "deployment", "tool")
    asked = list(product(dimensions, (DAY, WEEK, MONTH)))
    days_of_calls()
    before = {one: report(*one, run_each_hour) for one in asked}

    done = sum_up_all(run_each_hour)
    after = {one: report(*one, run_each_hour) for one in asked}

    # All days before this one, the hours of the last eight days but the last one before now, five
    # minutes each of this one until five minutes ago, and the whole weeks among the days.
    weeks = SummedSpan.objects.filter(span="week").count()
    assert (done, weeks) == (19 + 8 * 24 - 1 + 11 + weeks, 2)
    assert {one.period.rows_since for one in after.values()} == {NOW - timedelta(minutes=5)}
    assert all(before[one].period.rows_since < after[one].period.rows_since for one in asked)
    assert [one for one in asked if figures_of(after[one]) != figures_of(before[one])] == []


@pytest.mark.parametrize("by", get_args(By))
def test_chosen_applications_have_the_same_figures_in_sums_as_in_rows(
    by, django_assert_num_queries
):
    days_of_calls()
    store(tool_use(application="other", tool="other tool"), model_call(application="third"))
    before = report(by, MONTH, run_each_hour, among=["travel", "third"])
    sum_up_all(run_each_hour)

    with django_assert_num_queries(8):
        after = report(by, MONTH, run_each_hour, among=["travel", "third"])

    assert after.period.rows_since > before.period.rows_since
    assert figures_of(after) == figures_of(before)
    assert (after.total.sums.calls, after.tools.sums.calls) == (61, 20)


def test_no_chosen_applications_have_no_figures():
    days_of_calls()
    sum_up_all(no_runs)

    found = report("user", MONTH, no_runs, among=[])

    assert (found.lines, found.callers, found.total.sums.calls) == ((), 0, 0)


def test_a_week_reads_the_sums_of_its_whole_days_and_shorter_ones_at_its_ends():
    days_of_calls()
    sum_up_all(no_runs)
    period = Period.ending(NOW, WEEK)

    read = UsageSum.objects.filter(period.stored, dimension=TOTAL).order_by("start")
    shown = {one.span for one in UsageSum.objects.filter(period.stored_intervals)}

    first, today = start_of_day(period.since + DAY), start_of_day(NOW)
    days = [(one.span, one.start) for one in read if first <= one.start < today]
    ends = {one.span for one in read if not first <= one.start < today}
    assert days == [("day", first + number * DAY) for number in range(6)]
    assert (ends, shown) == ({"hour"}, {"hour", "5min"})


def figures_of(found: UsageReport) -> Any:
    return {
        "lines": [rounded(one) for one in found.lines],
        "total": rounded(found.total),
        "series": [(one.start, rounded(one.models), rounded(one.tools)) for one in found.series],
        "slowest": [rounded(one) for one in found.slowest_tools],
        "errors": [(one.name, one.sums.errors) for one in found.errors],
        "callers": found.callers,
    }


def rounded(figures: Figures) -> Figures:
    figures.sums.cache_shares = round(figures.sums.cache_shares, 9)
    figures.sums.total_seconds = round(figures.sums.total_seconds, 9)
    return figures


def test_each_range_of_sums_names_its_dimension_so_that_no_other_is_read():
    days_of_calls()
    sum_up_all(no_runs)
    wanted = (Q(dimension="tool"), Q(dimension="user", name__in=["user-1"]))

    condition = str(of_period(Period.ending(NOW, MONTH), *wanted).query).partition(" WHERE ")[2]

    counts = [condition.count(part) for part in ("OR (", '"span" = ', " = tool", " = user")]
    assert counts == [9, 10, 5, 5]


def test_the_series_has_a_point_for_each_hour_or_day():
    store(model_call(), model_call(started_at=NOW - timedelta(minutes=1)))

    of_day, of_month = found("application", DAY), found("application", MONTH)

    assert len(of_day.series) == 24
    assert [(one.start.hour, one.models.sums.calls) for one in of_day.series[-3:]] == [
        (12, 1), (13, 1), (14, 0)
    ]  # fmt: skip
    assert (len(of_month.series), of_month.series[-1].models.sums.calls) == (30, 2)
    assert of_month.series[0].start == NOON.replace(hour=0) - 29 * DAY


def test_rows_that_are_gone_are_still_in_the_sums():
    days_of_calls()
    sum_up_all(no_runs)
    whole = found("application", MONTH).total.sums.calls

    ModelCall.objects.filter(started_at__lt=NOON - timedelta(days=10)).delete()

    assert found("application", MONTH).total.sums.calls == whole == 120
    assert SummedSpan.objects.filter(span="day").count() == 19
    assert UsageSum.objects.filter(span="day", dimension="application").count() == 19 * 2


def test_a_report_asks_few_queries(django_assert_num_queries):
    days_of_calls()
    sum_up_all(no_runs)

    for by in ("user", "tool"):
        for length in (DAY, MONTH):
            with django_assert_num_queries(8):
                found(by, length)


def test_the_database_adds_up_only_what_sorts_the_lines_that_are_not_shown(
    django_assert_num_queries,
):
    days_of_calls()
    sum_up_all(no_runs)

    with django_assert_num_queries(8) as queries:
        report("user", MONTH, no_runs, "input_tokens", most=1, with_percentiles=False)

    (ranking,) = [one["sql"] for one in queries if "IN ('user')" in one["sql"]][:1]
    assert ('SUM("insights_usagesum"."input_tokens")' in ranking, ranking.count("SUM(")) == (
        True,
        1,
    )
    # The only histograms are those of the series and of the slowest tools.
    histograms = [one["sql"] for one in queries if "seconds_text" in one["sql"]]
    assert ["IN ('user')" in sql for sql in histograms] == [False, False]


def test_without_calls_there_is_nothing_to_tell():
    of_month = found("application", MONTH)

    total = of_month.total
    assert (of_month.lines, total.sums.error_rate, total.sums.cache_hit_rate) == ((), None, None)
    assert total.seconds == (None, None, None)
    assert total.sums.mean_seconds is None
